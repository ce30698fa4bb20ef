// Reads the recorded models of a corpus. A corpus is a folder with a
// manifest.json that lists items; each item is a folder with a model and data
// sets.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<GoldenCase> cases,
//                          ReadCorpus({.folder = "../shared/corpus",
//                                      .parts = "models/onnx,onnx-light"}));
//   StatusOr<GoldenResult> result = RunGolden(cases.front(), {});
#ifndef EMBER_TOOLS_LIB_MODELS_CORPUS_H_
#define EMBER_TOOLS_LIB_MODELS_CORPUS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/models/golden.h"

namespace ember::tools {

struct CorpusOptions {
  // The path of the folder with manifest.json, as the user typed it.
  std::string folder;
  // Folder of generated models: files NAME.onnx whose weights were made from a
  // seed, so that the corpus does not hold them.
  std::string seeded;
  // Beginnings of paths, separated by commas. Only items whose path begins with
  // one of them are read; empty: all items.
  std::string parts;
};

// Returns one case for each model file that has data sets, in the order of the
// manifest.
StatusOr<std::vector<GoldenCase>> ReadCorpus(const CorpusOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_CORPUS_H_

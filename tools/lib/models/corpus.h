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
  // The folder with the files NAME.onnx of models whose weights were made from
  // a seed.
  std::string seeded;
  // A list of texts, separated by commas. Only items whose paths begin with one
  // of the texts are read; if the list is empty, all items are read.
  std::string parts;
};

// Returns the cases that have data sets, in the manifest's order: one for each
// model file.
StatusOr<std::vector<GoldenCase>> ReadCorpus(const CorpusOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_CORPUS_H_

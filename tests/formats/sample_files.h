// Files with the sample models of every format (frontends/NAME/testing), for
// tests of what all importers do alike.
//
//   for (const SampleFile& file : SampleFiles()) {
//     SCOPED_TRACE(file.path);
//     EXPECT_TRUE(Import(file, {.progress = &progress}).ok());
//   }
#ifndef EMBER_TESTS_FORMATS_SAMPLE_FILES_H_
#define EMBER_TESTS_FORMATS_SAMPLE_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::tests {

struct SampleFile {
  std::string_view format;
  std::string path;
  // Where the model does not say them.
  std::map<std::string, std::vector<std::optional<int64_t>>> shapes = {};
};

// Writes the files into the test's folder, and fails the test if it cannot.
std::vector<SampleFile> SampleFiles();

// By the importer of the file's format, with the file's shapes in place of
// options.input_shapes.
StatusOr<graph::Graph> Import(const SampleFile& file,
                              frontends::ImportOptions options = {});

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_SAMPLE_FILES_H_

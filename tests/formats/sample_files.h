// Writes the sample models of every format (frontends/NAME/testing) to files,
// to test what all importers have in common.
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
  // Shapes to import the model with, for inputs to which the file gives none.
  std::map<std::string, std::vector<std::optional<int64_t>>> shapes = {};
};

// Writes the sample files into the test's folder and returns them. The test
// fails if a file cannot be written.
std::vector<SampleFile> SampleFiles();

// Returns the frontend's description of the file's format.
const frontends::Format& FormatOf(const SampleFile& file);
// Imports the file by the importer of its format, with the file's shapes in
// place of options.input_shapes.
StatusOr<graph::Graph> Import(const SampleFile& file,
                              frontends::ImportOptions options = {});

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_SAMPLE_FILES_H_

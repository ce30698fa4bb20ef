// Checks for every format that the metadata which a frontend reads reaches the
// module's user.
//
//   EXPECT_THAT(KeptMetadata(ImportModel(path, {})),
//               ElementsAre(Pair("onnx.producer_name", "pytorch")));
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_FORMATS_KEPT_METADATA_H_
#define EMBER_TESTS_FORMATS_KEPT_METADATA_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::tests {

// Returns the graph's metadata. The test fails if the graph's text form, the
// compiler or the module's file changes it.
graph::Metadata KeptMetadata(StatusOr<graph::Graph> graph);

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_KEPT_METADATA_H_

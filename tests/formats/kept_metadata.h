// What the tests of every format's metadata share: whether what a frontend has
// read of a file comes to the user of the module.
//
//   EXPECT_THAT(KeptMetadata(ImportModel(path, {})),
//               ElementsAre(Pair("onnx.producer_name", "somebody")));
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_FORMATS_KEPT_METADATA_H_
#define EMBER_TESTS_FORMATS_KEPT_METADATA_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::tests {

// The graph's metadata. The test fails unless it is the same behind the graph's
// text form, the compiler, and the module's file.
graph::Metadata KeptMetadata(StatusOr<graph::Graph> graph);

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_KEPT_METADATA_H_

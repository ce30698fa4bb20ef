#include "compiler/graph/builder/control_flow.h"

#include "compiler/graph/builder/builder.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

// An importer learns late that a branch returns a value unchanged: after it has
// built the other branch, which may have captured more. Each input of a region
// must still correspond to the operand at its position.
TEST(IfRegions, CapturesOfBothAreInOneOrder) {
  GraphBuilder b("main");
  Value* condition = b.Input("condition", {DType::kBool, {}});
  const TensorType type{DType::kF32, {Dim(2)}};
  Value* x = b.Input("x", type);
  Value* y = b.Input("y", type);
  Value* z = b.Input("z", type);
  IfRegions regions(b);
  Value* then_first = regions.then().Capture(x);
  Value* else_first = regions.otherwise().Capture(y);
  Value* then_second = regions.then().Capture(z);
  Value* else_second = regions.otherwise().Capture(z);
  const std::vector<Value*> results = regions.Build(
      condition, {then_first, then_second}, {else_first, else_second});
  ASSERT_EQ(results.size(), 2u) << b.status().message();
  b.Output("a", results[0]);
  b.Output("b", results[1]);
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(Verify(*graph).ok()) << Print(*graph);
  const Operation& operation = *graph->operations().back();
  ASSERT_EQ(operation.operands().size(), 4u) << Print(*graph);
  for (const auto& owned : operation.regions()) {
    const Graph& region = *owned;
    ASSERT_EQ(region.inputs().size(), 3u) << Print(*graph);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(region.inputs()[i]->name(), operation.operands()[i + 1]->name())
          << Print(*graph);
    }
  }
}

}  // namespace
}  // namespace ember::graph

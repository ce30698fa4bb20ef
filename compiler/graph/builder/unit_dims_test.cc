#include "compiler/graph/builder/unit_dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/graph/builder/control_flow.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"

namespace ember::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim kN = Dim::Symbol("N");

TEST(UnitDimsTest, OpenDimsAreTakenNotToBe1) {
  GraphBuilder b("squeeze");
  Value* x = b.Input("x", {DType::kF32, {kN, 1, 3, kN + 2}});
  const std::vector<int64_t> axes = UnitAxes(b, x->shape());
  EXPECT_THAT(axes, ElementsAre(1));
  b.Output("y", b.Squeeze(x, axes));
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(Verify(*graph).ok());
  // UnitAxes assumes only of N that it is not 1. N + 2 is at least 2, so no
  // assumption about it is needed.
  EXPECT_THAT(DimsTakenNotUnit(*graph), ElementsAre(kN));
  // The assumption is printed with the graph and parsed back.
  const std::string text = Print(*graph);
  EXPECT_THAT(text, HasSubstr("not_one = [N]"));
  const StatusOr<Graph> parsed = Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(DimsTakenNotUnit(*parsed), ElementsAre(kN));
}

TEST(UnitDimsTest, MessageNamesWhatFixesTheDim) {
  GraphBuilder b("messages");
  TakeNotUnit(b, kN);
  Value* counts = b.Input("counts", {DType::kI64, {1}});
  TakeNotUnit(b, b.Extents(counts)[0]);
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::string text = Print(*graph);
  EXPECT_THAT(text, HasSubstr("dim N is 1"));
  EXPECT_THAT(text, HasSubstr("fix the dim when compiling (--shape)"));
  // The second message does not recommend a flag, because no flag can fix a dim
  // that depends on data.
  EXPECT_THAT(text, HasSubstr("a dim that the data gives is 1"));
  EXPECT_THAT(text, HasSubstr("name the axes in the model"));
}

TEST(UnitDimsTest, OfRegionsToo) {
  GraphBuilder b("region");
  Value* x = b.Input("x", {DType::kF32, {kN}});
  Value* condition = b.Input("condition", {DType::kBool, {}});
  IfRegions regions(b);
  TakeNotUnit(regions.then().builder(), kN);
  Value* then = regions.then().Capture(x);
  Value* otherwise = regions.otherwise().Capture(x);
  b.Output("y", regions.Build(condition, {then}, {otherwise})[0]);
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_THAT(DimsTakenNotUnit(*graph), ElementsAre(kN));
}

}  // namespace
}  // namespace ember::graph

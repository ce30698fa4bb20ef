#include "compiler/passes/element_order.h"

#include "compiler/graph/graph.h"
#include "compiler/graph/text/text.h"
#include "gtest/gtest.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Shape;

TEST(ElementOrder, TakesDimsApart) {
  ElementOrder split(Shape{24, 5});
  ASSERT_TRUE(split.Reshape({2, 3, 4, 5}));
  split.Transpose({3, 0, 1, 2});
  ElementOrder whole(Shape{24, 5});
  whole.Transpose({1, 0});
  // The two orders hold the same elements, but in different shapes, so they are
  // not equal.
  EXPECT_FALSE(split == whole);
  ASSERT_TRUE(split.Reshape({5, 24}));
  EXPECT_TRUE(split == whole);
  split.Transpose({1, 0});
  EXPECT_TRUE(split == ElementOrder(Shape{24, 5}));
}

TEST(ElementOrder, TellsOrdersOfOneShapeApart) {
  ElementOrder a(Shape{1, 6, 6}), b(Shape{1, 6, 6});
  a.Transpose({0, 2, 1});
  EXPECT_FALSE(a == b);
  b.Transpose({2, 1, 0});
  ASSERT_TRUE(a.Reshape({36}));
  ASSERT_TRUE(b.Reshape({36}));
  EXPECT_TRUE(a == b);
}

TEST(ElementOrder, KeepsSymbols) {
  const Dim n = Dim::Symbol("N"), m = Dim::Symbol("M");
  ElementOrder order(Shape{n, m * 4, 1});
  ASSERT_TRUE(order.Reshape({n, m, 4}));
  order.Transpose({2, 0, 1});
  ASSERT_TRUE(order.Reshape({4, n * m}));
  ASSERT_TRUE(order.Reshape({4, n, m}));
  order.Transpose({1, 2, 0});
  ASSERT_TRUE(order.Reshape({n, m * 4, 1}));
  EXPECT_TRUE(order == ElementOrder(Shape{n, m * 4, 1}));
  // The element counts agree, but N can be split into M and a rest only for
  // some values of the symbols, so the reshape is refused.
  EXPECT_FALSE(order.Reshape({m, n * 4}));
}

TEST(ElementOrder, KeepsEmptyDims) {
  ElementOrder order(Shape{3, 0});
  ASSERT_TRUE(order.Reshape({3, 1, 0}));
  EXPECT_EQ(order.shape(), (Shape{3, 1, 0}));
}

TEST(ElementOrder, RepeatsElements) {
  ElementOrder row(Shape{5}), column(Shape{5, 1});
  row.Broadcast({5, 5});
  column.Broadcast({5, 5});
  EXPECT_FALSE(row == column);
  column.Transpose({1, 0});
  EXPECT_TRUE(row == column);
}

TEST(HoldSameElements, LooksThroughElementwiseOperations) {
  const auto graph = graph::Parse(R"(
    graph @main(%x: f32[1, 3, 4, 5], %bias: f32[5]) -> (%y, %same, %other) {
      %t: f32[5, 1, 3, 4] = transpose(%x) {permutation = [3, 0, 1, 2]}
      %b: f32[5, 1, 1, 1] = reshape(%bias) {shape = [5, 1, 1, 1]}
      %sum: f32[5, 1, 3, 4] = add(%t, %b)
      %y: f32[5, 12] = reshape(%sum) {shape = [5, 12]}
      %last: f32[1, 3, 4, 5] = add(%x, %bias)
      %rows: f32[12, 5] = reshape(%last) {shape = [12, 5]}
      %same: f32[5, 12] = transpose(%rows) {permutation = [1, 0]}
      %other: f32[5, 12] = reshape(%last) {shape = [5, 12]}
    })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto outputs = graph->outputs();
  EXPECT_TRUE(HoldSameElements(outputs[0], outputs[1]));
  EXPECT_FALSE(HoldSameElements(outputs[0], outputs[2]));
}

}  // namespace
}  // namespace ember::compiler

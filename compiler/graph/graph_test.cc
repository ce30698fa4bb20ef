#include "compiler/graph/graph.h"

#include "compiler/graph/operators.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

Graph Parsed(std::string_view text) {
  StatusOr<Graph> graph = Parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? *std::move(graph) : Graph();
}

constexpr std::string_view kSmall =
    R"text(graph @small(%x: f32[N, 3]) -> (%y, %z) {
  %a: f32[N, 3] = exp(%x)
  %y: f32[N, 3] = add(%a, %a)
  %z: f32[3, N] = transpose(%a) {permutation = [1, 0]}
}
)text";

TEST(GraphTest, ReplaceAllUsesMovesEveryUse) {
  Graph graph = Parsed(kSmall);
  Value* x = graph.inputs()[0];
  Operation* exp = graph.Operations()[0];
  EXPECT_EQ(exp->result()->users().size(), 3u);
  graph.ReplaceAllUses(exp->result(), x);
  EXPECT_TRUE(exp->result()->unused());
  EXPECT_EQ(x->users().size(), 4u);
  graph.Erase(exp);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
  Operation* add = graph.Operations()[0];
  graph.ReplaceAllUses(add->result(), x);
  EXPECT_TRUE(x->is_graph_output());
  EXPECT_FALSE(add->result()->is_graph_output());
  graph.Erase(add);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
}

TEST(GraphTest, EditsKeepTheGraphValid) {
  Graph graph = Parsed(kSmall);
  const std::vector<Operation*> operations = graph.Operations();
  graph.SetOperand(operations[1], 0, graph.inputs()[0]);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
  graph.MoveBefore(operations[2], operations[1]);
  EXPECT_EQ(graph.Operations()[1], operations[2]);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
  graph.SetOutput(0, graph.inputs()[0]);
  EXPECT_TRUE(operations[1]->result()->unused());
  const auto added = graph.Add(OperatorNamed("neg"), {graph.inputs()[0]}, {},
                               "", operations[2]);
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(graph.Operations()[1], *added);
  // After this change operation 0 uses the result of a later operation. Verify
  // must report that, until the operation is moved before its user.
  graph.SetOperand(operations[0], 0, (*added)->result());
  EXPECT_NE(Verify(graph).message().find("defined before"),
            std::string_view::npos);
  graph.MoveBefore(*added, operations[0]);
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
}

TEST(GraphTest, PointersSurviveAMove) {
  Graph graph = Parsed(kSmall);
  Operation* add = graph.Operations()[1];
  Graph moved = std::move(graph);
  moved.MoveBefore(moved.Operations()[2], add);
  moved.SetOutput(0, moved.inputs()[0]);
  moved.Erase(add);
  EXPECT_TRUE(Verify(moved).ok()) << Verify(moved).message();
}

TEST(GraphTest, SymbolsArePinnedEverywhere) {
  Graph graph = Parsed(R"text(graph @pin(%x: f32[N, 2*H]) -> (%y) {
    %s: i64[2] = shape_value() {values = [N*H, floordiv(H, 2)]}
    %r: f32[N*H, 2] = reshape(%x) {shape = [N*H, 2]}
    %y: f32[1, 2] = slice(%r) {starts = [N*H - 1, 0], steps = [1, 1], sizes = [1, 2]}
  })text");
  ASSERT_TRUE(graph.SubstituteSymbols({{"H", 4}, {"unknown", 7}}).ok());
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph).message();
  EXPECT_EQ(Print(graph), R"text(graph @pin(%x: f32[N, 8]) -> (%y) {
  %s: i64[2] = shape_value() {values = [4*N, 2]}
  %r: f32[4*N, 2] = reshape(%x) {shape = [4*N, 2]}
  %y: f32[1, 2] = slice(%r) {starts = [4*N - 1, 0], steps = [1, 1], sizes = [1, 2]}
}
)text");
  EXPECT_FALSE(graph.SubstituteSymbols({{"N", 0}}).ok());
}

TEST(GraphTest, InferTypesFollowsChangedAttributes) {
  Graph graph = Parsed(kSmall);
  Operation* transpose = graph.Operations()[2];
  graph.SetAttribute(transpose, "permutation", std::vector<int64_t>{0, 1});
  EXPECT_FALSE(Verify(graph).ok());
  EXPECT_TRUE(graph.InferTypes().ok());
  EXPECT_TRUE(Verify(graph).ok());
  EXPECT_EQ(ToString(transpose->result()->type()), "f32[N, 3]");
}

TEST(GraphTest, InputsAreChecked) {
  Graph graph("inputs");
  EXPECT_EQ(graph.AddInput("x", {DType::kF32, {-1}}).status().message(),
            "input 'x': shape [-1]: expected dims of at least 0, found -1");
  EXPECT_EQ(graph.AddInput("x", {DType::kF32, {INT64_MAX}}).status().message(),
            "input 'x': shape [9223372036854775807]: the size in bytes "
            "overflows 64 bits");
  EXPECT_EQ(
      graph.AddInput("x", {DType::kF32, {Dim::Invalid()}}).status().message(),
      "input 'x': a dim overflows 64 bits, divides by 0 or is too long an "
      "expression of open dims (fix dims of the inputs: --shape)");
  EXPECT_EQ(graph.AddInput("x", {DType::kF32, Shape(17, 1)})
                .status()
                .message()
                .substr(0, 9),
            "input 'x'");
  EXPECT_TRUE(graph.inputs().empty());
}

}  // namespace
}  // namespace ember::graph

#include "compiler/graph/builder/builder.h"

#include <cstring>

#include "compiler/graph/testing/evaluate.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

using tensor::Opcode;

const Dim kN = Dim::Symbol("N");
const Dim kH = Dim::Symbol("H");

std::string Contents(const GraphBuilder& b, Value* value) {
  EXPECT_TRUE(b.status().ok()) << b.status().message();
  const auto contents = b.IntegerContents(value);
  return contents ? ShapeToString(*contents) : "unknown";
}

Value* Ints(GraphBuilder& b, std::vector<int64_t> values) {
  return b.Integers(values);
}

TEST(GraphBuilderTest, MakesAGraph) {
  GraphBuilder b("mlp");
  Value* x = b.Input("x", {DType::kF32, {kN, 4}});
  Value* w = b.Input("w", {DType::kF32, {4, 2}});
  b.SetOrigin("Gemm_0 (Gemm)");
  Value* h = b.MatMul(x, w);
  Value* y = b.Maximum(h, b.Scalar(0, DType::kF32));
  b.Output("y", y);
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(Verify(*graph).ok());
  EXPECT_EQ(Print(*graph),
            R"text(graph @mlp(%x: f32[N, 4], %w: f32[4, 2]) -> (%y) {
  %0: f32[N, 2] = contract(%x, %w) {spec = "ik,kj->ij"} from "Gemm_0 (Gemm)"
  %1: f32[] = constant() {value = [0.0]} from "Gemm_0 (Gemm)"
  %y: f32[N, 2] = maximum(%0, %1) from "Gemm_0 (Gemm)"
}
)text");
}

TEST(GraphBuilderTest, ErrorsAreStickyAndNameTheNode) {
  GraphBuilder b("wrong");
  Value* x = b.Input("x", {DType::kF32, {2, 3}});
  b.SetOrigin("MatMul_7 (MatMul)");
  Value* y = b.MatMul(x, x);
  EXPECT_EQ(y, nullptr);
  b.SetOrigin("later");
  Value* z = b.Softmax(b.Concat({y, b.Unary(Opcode::kExp, y)}, -1), 5);
  EXPECT_EQ(z, nullptr);
  EXPECT_EQ(b.Mean(b.Reduce(z, "sum", {9}, true), {-7}, false), nullptr);
  EXPECT_EQ(b.Squeeze(z, {}), nullptr);
  b.Output("z", z);
  EXPECT_EQ(b.Finish().status().message(),
            "contract 'MatMul_7 (MatMul)': operand 1: expected 3 for label k, "
            "found 2 in f32[2, 3]");
}

TEST(GraphBuilderTest, OperationsAreLimited) {
  // Computing x + 1 takes two operations, a constant and an addition. So it
  // fails with a limit of 0 or 1 and succeeds with 2.
  for (int64_t limit = 0; limit < 3; ++limit) {
    GraphBuilder b("limited", limit);
    Value* x = b.Input("x", {DType::kF32, {2}});
    b.SetOrigin("Add_1 (Add)");
    Value* y = b.Add(x, b.Scalar(1, DType::kF32));
    EXPECT_EQ(y == nullptr, limit < 2);
    b.Output("y", y);
    const StatusOr<Graph> graph = b.Finish();
    EXPECT_EQ(graph.ok(), limit == 2);
    if (graph.ok()) continue;
    EXPECT_EQ(graph.status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(graph.status().message(),
              "'Add_1 (Add)': expected a graph of at most " +
                  std::to_string(limit) + " operations, found more");
  }
}

TEST(GraphBuilderTest, OperationsOfRegionsAreLimitedWithTheOthers) {
  GraphBuilder b("limited", 3);
  Value* x = b.Input("x", {DType::kF32, {2}});
  Value* y = b.Unary(Opcode::kExp, x);
  GraphBuilder inner = b.Inner("region");
  Value* z = inner.Input("z", {DType::kF32, {2}});
  inner.Output("w", inner.Unary(Opcode::kExp, inner.Unary(Opcode::kExp, z)));
  EXPECT_TRUE(inner.Finish().ok());
  EXPECT_EQ(b.Unary(Opcode::kExp, y), nullptr);
  EXPECT_EQ(b.status().message(),
            "expected a graph of at most 3 operations, found more");
}

TEST(GraphBuilderTest, AxesAreChecked) {
  const auto message =
      [](const std::function<void(GraphBuilder&, Value*)>& use) {
        GraphBuilder b("axes");
        use(b, b.Input("x", {DType::kF32, {2, 3}}));
        return std::string(b.status().message());
      };
  EXPECT_EQ(message([](auto& b, Value* x) { b.Softmax(x, 2); }),
            "axis: expected -2 to 1, found 2");
  EXPECT_EQ(message([](auto& b, Value* x) { b.Mean(x, {INT64_MIN}, true); }),
            "axis: expected -2 to 1, found -9223372036854775808");
  EXPECT_EQ(
      message([](auto& b, Value* x) { b.Reduce(x, "sum", {1, -1}, true); }),
      "reduce: axes: expected distinct axes, found 1 twice");
  EXPECT_EQ(message([](auto& b, Value* x) {
              b.Unsqueeze(x, std::vector<int64_t>{0, 0});
            }),
            "unsqueeze: expected distinct axes, found one twice");
  EXPECT_EQ(
      message([](auto& b, Value* x) { b.Squeeze(x, std::vector<int64_t>{0}); }),
      "reshape: shape: expected 6 elements as f32[2, 3], found 3 in [3]");
  EXPECT_EQ(message([](auto& b, Value*) { b.Apply("exp", {nullptr}); }),
            "graph: expected an operand, found null");
  EXPECT_EQ(message([](auto& b, Value* x) { b.Gather(x, x, -3); }),
            "axis: expected -2 to 1, found -3");
}

TEST(GraphBuilderTest, WhatComputesNothingIsNotMade) {
  GraphBuilder b("nothing");
  Value* x = b.Input("x", {DType::kF32, {kN, 4}});
  EXPECT_EQ(b.Reshape(x, {kN, 4}), x);
  EXPECT_EQ(b.Cast(x, DType::kF32), x);
  EXPECT_EQ(b.Transpose(x, {0, 1}), x);
  EXPECT_EQ(b.Broadcast(x, {kN, 4}), x);
  EXPECT_EQ(b.Concat({x}, 0), x);
  EXPECT_EQ(b.Slice(x, {0, 0}, {1, 1}, {kN, 4}), x);
  EXPECT_EQ(b.Pad(x, {0, 0}, {0, 0}, "edge", nullptr), x);
  EXPECT_EQ(b.Reduce(x, "sum", {}, true), x);
  Value* square = b.Input("s", {DType::kF32, {kN, kN}});
  EXPECT_NE(b.Transpose(square, {1, 0}), square);
  EXPECT_NE(b.Slice(x, {0, 3}, {1, -1}, {kN, 4}), x);
  EXPECT_EQ(b.Reshape(x, {kN, 5}), nullptr);
}

TEST(GraphBuilderTest, ContractionsOfHalfFloatsComeBackAsTheyWere) {
  GraphBuilder b("half");
  Value* x = b.Input("x", {DType::kF16, {2, 3}});
  Value* y = b.Contract(x, x, "ik,jk->ij");
  EXPECT_EQ(y->dtype(), DType::kF16);
  EXPECT_EQ(y->producer()->name(), "cast");
  EXPECT_EQ(y->producer()->operand(0)->dtype(), DType::kF32);
}

TEST(GraphBuilderTest, MatMulBroadcastsBatches) {
  const std::tuple<Shape, Shape, std::string, Shape> cases[] = {
      {{3}, {3}, "k,k->", {}},
      {{2, 3}, {3}, "ik,k->i", {2}},
      {{3}, {3, 4}, "k,kj->j", {4}},
      {{5, 2, 3}, {3, 4}, "Aik,kj->Aij", {5, 2, 4}},
      {{5, 2, 3}, {5, 3, 4}, "Aik,Akj->Aij", {5, 2, 4}},
      {{1, 2, 3}, {5, 3, 4}, "ik,Akj->Aij", {5, 2, 4}},
      {{5, 2, 3}, {1, 3, 4}, "Aik,kj->Aij", {5, 2, 4}},
      {{1, 2, 3}, {1, 3, 4}, "Aik,kj->Aij", {1, 2, 4}},
      {{kN, 1, 2, 3}, {7, 3, 4}, "Aik,Bkj->ABij", {kN, 7, 2, 4}},
      {{kN, kH, 2, 3}, {kN, kH, 3, 4}, "ABik,ABkj->ABij", {kN, kH, 2, 4}},
      {{2, 3}, {kN, 1, 3, 4}, "ik,ABkj->ABij", {kN, 1, 2, 4}},
      {{kN, 3}, {5, 3, 1}, "ik,Akj->Aij", {5, kN, 1}},
      {{3}, {5, 3, 4}, "k,Akj->Aj", {5, 4}},
  };
  for (const auto& [left, right, spec, shape] : cases) {
    GraphBuilder b("matmul");
    Value* y = b.MatMul(b.Input("a", {DType::kF32, left}),
                        b.Input("b", {DType::kF32, right}));
    ASSERT_NE(y, nullptr) << b.status().message();
    EXPECT_EQ(y->producer()->attributes().Get<std::string>("spec"), spec);
    EXPECT_EQ(ShapeToString(y->shape()), ShapeToString(shape)) << spec;
  }
}

TEST(GraphBuilderTest, SoftmaxAndMean) {
  GraphBuilder b("compositions");
  Value* x = b.Input("x", {DType::kF32, {2, kN}});
  b.Output("softmax", b.Softmax(x, -1));
  b.Output("mean", b.Mean(x, {1}, true));
  b.Output("half", b.Mean(b.Cast(x, DType::kF16), {0, 1}, false));
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const float values[] = {1000, 1001, -2, 2};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values);
  const TensorData input{
      DType::kF32, {2, 2}, ConstantData::Copy({bytes, sizeof values})};
  const auto outputs = Evaluate(*graph, {&input, 1});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  float softmax[4], mean[2];
  std::memcpy(softmax, (*outputs)[0].data.bytes.data(), sizeof softmax);
  std::memcpy(mean, (*outputs)[1].data.bytes.data(), sizeof mean);
  EXPECT_NEAR(softmax[0], 0.26894143f, 1e-6);
  EXPECT_NEAR(softmax[1], 0.73105860f, 1e-6);
  EXPECT_NEAR(softmax[2] + softmax[3], 1, 1e-6);
  EXPECT_EQ(mean[0], 1000.5f);
  EXPECT_EQ(mean[1], 0);
  EXPECT_EQ((*outputs)[2].dtype, DType::kF16);
  EXPECT_EQ((*outputs)[1].extents, (std::vector<int64_t>{2, 1}));
}

// --- contents ---

TEST(GraphBuilderTest, ConstantsAreFolded) {
  GraphBuilder b("constants");
  Value* sum = b.Add(Ints(b, {1, 2}), Ints(b, {10, -2}));
  EXPECT_EQ(sum->producer()->name(), "constant");
  EXPECT_EQ(b.ConstantContents(sum), (std::vector<double>{11, 0}));
  EXPECT_EQ(Contents(b, sum), "[11, 0]");
  Value* half = b.Divide(b.Scalar(1, DType::kBF16), b.Scalar(2, DType::kBF16));
  EXPECT_EQ(b.ConstantContents(half), std::vector<double>{0.5});
  EXPECT_EQ(Contents(b, half), "unknown");
  // Two kinds of operations on constants are not folded: those whose result is
  // much larger than the operands, and those that fail when they are evaluated.
  EXPECT_EQ(b.Broadcast(half, {1000})->producer()->name(), "broadcast");
  Value* outside = b.Gather(Ints(b, {1, 2}), Ints(b, {2}), 0);
  EXPECT_EQ(outside->producer()->name(), "gather");
  EXPECT_EQ(b.ConstantContents(outside), std::nullopt);
  EXPECT_EQ(b.ConstantContents(b.Input("x", {DType::kF32, {}})), std::nullopt);
  EXPECT_EQ(b.ShapeValue({2, 3})->producer()->name(), "constant");
  EXPECT_EQ(b.DimValue(Dim(INT64_MAX))->rank(), 0);
  EXPECT_EQ(Contents(b, b.DimValue(Dim(INT64_MAX))), "[9223372036854775807]");
}

TEST(GraphBuilderTest, ContentsFollowShapeArithmetic) {
  GraphBuilder b("contents");
  Value* shape = b.ShapeValue({kN, 3, kH});
  EXPECT_EQ(Contents(b, shape), "[N, 3, H]");
  EXPECT_EQ(Contents(b, b.Gather(shape, Ints(b, {2, 0}), 0)), "[H, N]");
  EXPECT_EQ(Contents(b, b.Slice(shape, {2}, {-2}, {2})), "[H, N]");
  Value* last = b.Reshape(b.Slice(shape, {2}, {1}, {1}), {});
  EXPECT_EQ(Contents(b, last), "[H]");
  EXPECT_EQ(Contents(b, b.Add(shape, last)), "[H + N, H + 3, 2*H]");
  EXPECT_EQ(Contents(b, b.Multiply(shape, Ints(b, {2}))), "[2*N, 6, 2*H]");
  EXPECT_EQ(
      Contents(b, b.Divide(b.Multiply(shape, Ints(b, {4})), Ints(b, {2}))),
      "[2*N, 6, 2*H]");
  EXPECT_EQ(Contents(b, b.Divide(shape, Ints(b, {2}))),
            "[floordiv(N, 2), 1, floordiv(H, 2)]");
  EXPECT_EQ(Contents(b, b.Divide(shape, Ints(b, {0}))), "unknown");
  EXPECT_EQ(
      Contents(b, b.Divide(b.Subtract(shape, Ints(b, {5})), Ints(b, {2}))),
      "unknown");
  EXPECT_EQ(Contents(b, b.Binary(Opcode::kModulo, shape, Ints(b, {2}))),
            "[mod(N, 2), 1, mod(H, 2)]");
  EXPECT_EQ(Contents(b, b.Concat({shape, Ints(b, {-1})}, 0)), "[N, 3, H, -1]");
  EXPECT_EQ(Contents(b, b.Reduce(shape, "product", {0}, false)), "[3*H*N]");
  EXPECT_EQ(Contents(b, b.Reduce(shape, "maximum", {0}, true)),
            "[max(H, max(3, N))]");
  EXPECT_EQ(Contents(b, b.Cast(b.Cast(shape, DType::kI32), DType::kI64)),
            "[N, 3, H]");
  EXPECT_EQ(Contents(b, b.Cast(Ints(b, {300}), DType::kI8)), "[44]");
  EXPECT_EQ(Contents(b, b.Unary(Opcode::kNegate, shape)), "[-N, -3, -H]");
  EXPECT_EQ(
      Contents(b, b.Unary(Opcode::kAbsolute, b.Unary(Opcode::kNegate, shape))),
      "[N, 3, H]");
}

TEST(GraphBuilderTest, ContentsDecideConditions) {
  GraphBuilder b("conditions");
  Value* shape = b.ShapeValue({kN, -1, kH + 1});
  // Exporters replace each -1 in the shape of an Expand by 1, with the
  // operators Equal and Where (here select). The builder must see through them.
  Value* wild = b.Binary(Opcode::kEqual, shape, Ints(b, {-1}));
  EXPECT_EQ(Contents(b, wild), "[0, 1, 0]");
  EXPECT_EQ(Contents(b, b.Select(wild, Ints(b, {1, 1, 1}), shape)),
            "[N, 1, H + 1]");
  EXPECT_EQ(Contents(b, b.Binary(Opcode::kEqual, shape, Ints(b, {3}))),
            "unknown");
  EXPECT_EQ(Contents(b, b.Binary(Opcode::kLess, shape, Ints(b, {0}))),
            "[0, 1, 0]");
  EXPECT_EQ(Contents(b, b.Unary(Opcode::kNot, wild)), "[1, 0, 1]");
  EXPECT_EQ(Contents(b, b.Cast(b.ShapeValue({kH + 1, 0}), DType::kBool)),
            "[1, 0]");
  EXPECT_EQ(Contents(b, b.Cast(b.ShapeValue({kH, 0}), DType::kBool)),
            "unknown");
}

TEST(GraphBuilderTest, ContentsGoThroughFloats) {
  GraphBuilder b("floats");
  Value* size = b.Cast(b.ShapeValue({kH, 7}), DType::kF32);
  Value* doubled = b.Multiply(size, b.Scalar(2, DType::kF32));
  EXPECT_EQ(Contents(b, b.Cast(b.Unary(Opcode::kFloor, doubled), DType::kI64)),
            "[2*H, 14]");
  Value* halved = b.Divide(size, b.Scalar(2, DType::kF32));
  EXPECT_EQ(Contents(b, halved), "unknown");
  EXPECT_EQ(Contents(b, b.Unary(Opcode::kFloor, halved)),
            "[floordiv(H, 2), 3]");
  EXPECT_EQ(Contents(b, b.Divide(doubled, b.Scalar(2, DType::kF32))), "[H, 7]");
  EXPECT_EQ(Contents(b, b.Multiply(size, b.Scalar(0.5, DType::kF32))),
            "unknown");
}

TEST(GraphBuilderTest, ContentsOfMovedTensors) {
  GraphBuilder b("moved");
  Value* grid = b.Reshape(b.ShapeValue({kN, kH, 1, 2}), {2, 2});
  EXPECT_EQ(Contents(b, b.Transpose(grid, {1, 0})), "[N, 1, H, 2]");
  EXPECT_EQ(Contents(b, b.Reduce(grid, "sum", {1}, false)), "[H + N, 3]");
  EXPECT_EQ(Contents(b, b.Broadcast(b.DimValue(kN), {3})), "[N, N, N]");
  EXPECT_EQ(Contents(b, b.Gather(grid, b.Scalar(1, DType::kI64), 1)), "[H, 2]");
  EXPECT_EQ(Contents(b, b.Iota({4}, 0, DType::kI32)), "[0, 1, 2, 3]");
  EXPECT_EQ(Contents(b, b.Iota({kN}, 0, DType::kI32)), "unknown");
  EXPECT_EQ(Contents(b, b.ShapeValue({})), "[]");
  EXPECT_EQ(Contents(b, b.Input("x", {DType::kI64, {2}})), "unknown");
  EXPECT_EQ(b.IntegerContents(nullptr), std::nullopt);
}

// Returns a value whose dim is an expression that contains the dim of x twice,
// so that repeated calls would make the expression grow exponentially.
Value* Grow(GraphBuilder& b, Value* x) {
  const Dim dim = x->shape()[0];
  return b.Broadcast(
      b.Scalar(0, DType::kF32),
      {FloorDivide(dim * Dim(3) + FloorDivide(dim, Dim(5)), Dim(2))});
}

TEST(GraphBuilderTest, LongDimsBecomeSymbols) {
  GraphBuilder b("long");
  Value* x = b.Input("x", {DType::kF32, {kN}});
  Value* first = x;
  Value* second = x;
  for (int i = 0; i < 40; ++i) {
    first = Grow(b, first);
    second = Grow(b, second);
  }
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  EXPECT_LE(first->shape()[0].ToString().size(), 512u);
  // The two chains of operations compute equal expressions, so the same symbol
  // replaces them.
  EXPECT_EQ(first->shape(), second->shape());
  b.Output("y", b.Add(first, second));
  const StatusOr<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(Verify(*graph).ok());
}

}  // namespace
}  // namespace ember::graph

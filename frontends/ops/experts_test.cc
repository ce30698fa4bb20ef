// Tests that the graph of a mixture of experts is built, or fails with an
// error. Results are compared in tests of formats that have such mixtures
// (//tests/onnx:contrib_moe_test, //tests/gguf).
#include "frontends/ops/experts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>

namespace ember::ops {
namespace {

constexpr int64_t kExperts = 3, kTokens = 4, kWidth = 2;

ExpertMixture MixtureOf(graph::GraphBuilder& b) {
  return {.x = {&b, b.Input("x", {DType::kF32, {kTokens, kWidth}})},
          .gates = {&b, b.Input("g", {DType::kF32, {kExperts, kTokens}})}};
}

TEST(ExpertsTest, AnExpertHasItsOwnWeightsAndSomeOfTheTokens) {
  graph::GraphBuilder b("experts");
  ExpertMixture mixture = MixtureOf(b);
  const Tensor w(&b, b.Input("w", {DType::kF32, {kExperts, kWidth, kWidth}}));
  mixture.weights = {Tensor(), w};
  int calls = 0;
  const Tensor y =
      SumOfExperts(mixture, [&](Tensor rows, std::span<const Tensor> weights) {
        ++calls;
        EXPECT_EQ(weights.size(), 2u);
        EXPECT_FALSE(weights[0].present());
        EXPECT_EQ(weights[1].shape(), (Shape{kWidth, kWidth}));
        EXPECT_EQ(rows.rank(), 2);
        EXPECT_FALSE(rows.dim(0).is_constant());
        EXPECT_EQ(rows.dim(1), Dim(kWidth));
        return Contract(rows, weights[1], "nk,mk->nm");
      });
  EXPECT_EQ(y.shape(), (Shape{kTokens, kWidth}));
  b.Output("y", y.value());
  const StatusOr<graph::Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_GE(calls, 1);
}

TEST(ExpertsTest, AnErrorOfAnExpertIsTheGraphs) {
  graph::GraphBuilder b("experts");
  const Tensor y =
      SumOfExperts(MixtureOf(b), [](Tensor rows, std::span<const Tensor>) {
        rows.builder().Fail(InvalidArgumentError("no such expert"));
        return rows;
      });
  EXPECT_EQ(y.value(), nullptr);
  EXPECT_EQ(b.status().message(), "no such expert");
}

// The expert doubles the width of its tokens. Such results cannot be added up,
// which must be an error.
TEST(ExpertsTest, ResultsOfAnotherWidthAreAnError) {
  graph::GraphBuilder b("experts");
  const Tensor y =
      SumOfExperts(MixtureOf(b), [](Tensor rows, std::span<const Tensor>) {
        return Concat({rows, rows}, 1);
      });
  EXPECT_EQ(y.value(), nullptr);
  EXPECT_FALSE(b.status().ok());
}

}  // namespace
}  // namespace ember::ops

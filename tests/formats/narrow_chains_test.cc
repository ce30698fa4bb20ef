// Tests chains of f16 and bf16 (compiler/passes/widen_chains.h): their results
// do not depend on other passes, nor on which operations become one dispatch.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "compiler/graph/text/text.h"
#include "compiler/pipeline.h"
#include "tests/formats/numbers.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

// The graph begins with a normalization of single operators, after a transpose
// and before a product. Its second part is a chain of functions with one value
// that two functions read. `$` is replaced by the element type.
constexpr std::string_view kChains = R"(
graph @chains(%x: $[8, 4], %g: $[8], %w: $[8, 2]) -> (%y, %z, %norm) {
  %n: f32[] = constant() {value = [8.0]}
  %two: $[] = constant() {value = [2.0]}
  %small: $[] = constant() {value = [0.001]}
  %t: $[4, 8] = transpose(%x) {permutation = [1, 0]}
  %wide: f32[4, 8] = cast(%t) {dtype = f32}
  %sum: f32[4] = reduce(%wide) {combiner = "sum", axes = [1]}
  %average: f32[4] = divide(%sum, %n)
  %half: $[4] = cast(%average) {dtype = $}
  %mean: $[4, 1] = reshape(%half) {shape = [4, 1]}
  %d: $[4, 8] = subtract(%t, %mean)
  %squares: $[4, 8] = power(%d, %two)
  %wide_squares: f32[4, 8] = cast(%squares) {dtype = f32}
  %sum_2: f32[4] = reduce(%wide_squares) {combiner = "sum", axes = [1]}
  %average_2: f32[4] = divide(%sum_2, %n)
  %half_2: $[4] = cast(%average_2) {dtype = $}
  %variance: $[4, 1] = reshape(%half_2) {shape = [4, 1]}
  %above: $[4, 1] = add(%variance, %small)
  %root: $[4, 1] = sqrt(%above)
  %normal: $[4, 8] = divide(%d, %root)
  %norm: $[4, 8] = multiply(%normal, %g)
  %a: f32[4, 8] = cast(%norm) {dtype = f32}
  %b: f32[8, 2] = cast(%w) {dtype = f32}
  %product: f32[4, 2] = contract(%a, %b) {spec = "ik,kj->ij"}
  %h: $[4, 2] = cast(%product) {dtype = $}
  %e: $[4, 2] = multiply(%h, %two)
  %f: $[4, 2] = tanh(%e)
  %l: $[4, 2] = exp(%f)
  %y: $[4, 2] = divide(%f, %l)
  %floor: $[4, 2] = floor(%e)
  %z: $[4, 2] = multiply(%floor, %small)
}
)";

graph::Graph Chains(DType type) {
  std::string text(kChains);
  const std::string name(DTypeName(type));
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$'))
    text.replace(at, 1, name);
  auto graph = graph::Parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

// Returns inputs whose deviations from the mean have squares beyond the range
// of f16.
std::vector<Numbers> Inputs(DType type) {
  std::vector<double> x, g, w;
  for (int i = 0; i < 32; ++i) x.push_back(37 * ((i * 7) % 31) - 500);
  for (int i = 0; i < 8; ++i) g.push_back(1 + i / 8.0);
  for (int i = 0; i < 16; ++i) w.push_back((i * 5 % 16 - 8) / 16.0);
  return {{type, {8, 4}, x}, {type, {8}, g}, {type, {8, 2}, w}};
}

std::vector<vm::Tensor> ResultsOf(
    DType type, const std::set<std::string>& disabled_passes) {
  std::vector<vm::Tensor> inputs;
  for (const Numbers& numbers : Inputs(type))
    inputs.push_back(MakeTensor(numbers));
  auto results = RunGraph(Chains(type), inputs, disabled_passes);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  return results.ok() ? *std::move(results) : std::vector<vm::Tensor>();
}

TEST(NarrowChains, AreTheSameWithoutEachPass) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const std::vector<vm::Tensor> expected = ResultsOf(type, {});
    ASSERT_EQ(expected.size(), 3u);
    for (const compiler::PipelineStep& step : compiler::Pipeline()) {
      if (step.name == "emit" || step.name == "widen-chains") continue;
      SCOPED_TRACE(std::string(DTypeName(type)) + " without " +
                   std::string(step.name));
      const std::vector<vm::Tensor> results =
          ResultsOf(type, {std::string(step.name)});
      ASSERT_EQ(results.size(), expected.size());
      for (size_t i = 0; i < results.size(); ++i) {
        ASSERT_EQ(results[i].byte_size, expected[i].byte_size);
        EXPECT_EQ(std::memcmp(results[i].data, expected[i].data,
                              static_cast<size_t>(results[i].byte_size)),
                  0)
            << "result " << i;
      }
    }
  }
}

// If each operation rounded its result to f16, the squares in the normalization
// would be infinite.
TEST(NarrowChains, OfANormDoNotOverflow) {
  const std::vector<Numbers> inputs = Inputs(DType::kF16);
  const Numbers norm = ReadNumbers(ResultsOf(DType::kF16, {}).at(2));
  for (int row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    const auto x = [&](int i) { return inputs[0].values[4 * i + row]; };
    for (int i = 0; i < 8; ++i) sum += x(i);
    for (int i = 0; i < 8; ++i) squares += (x(i) - sum / 8) * (x(i) - sum / 8);
    for (int i = 0; i < 8; ++i) {
      const double expected = (x(i) - sum / 8) / std::sqrt(squares / 8 + 0.001);
      EXPECT_NEAR(norm.values[8 * row + i], expected * inputs[1].values[i],
                  2e-3)
          << row << ", " << i;
    }
  }
  const Numbers rounded =
      ReadNumbers(ResultsOf(DType::kF16, {"widen-chains"}).at(2));
  EXPECT_EQ(rounded.values[0], 0) << "by an infinite deviation";
}

}  // namespace
}  // namespace ember::tests

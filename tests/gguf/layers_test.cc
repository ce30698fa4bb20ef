// Tests that the time to compile a model of packed weights does not grow
// exponentially with its layers.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/language_models/packed_product.h"
#include "gtest/gtest.h"

namespace ember::language_models {
namespace {

graph::ConstantData Owned(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {owner, *owner};
}

// Each layer adds its input to its result, so the number of paths from the
// first weight's scales to the model's result doubles with each layer. A
// compiler that walks all paths does not end.
TEST(LayersOfPackedWeights, Compile) {
  constexpr int64_t kWidth = 1024;
  constexpr int kLayers = 32;
  const BlockFormat format = BlockFormat::kQ6_K;
  const int64_t bytes = InfoOf(format).bytes;
  const int64_t blocks = kWidth / InfoOf(format).elements;
  graph::GraphBuilder b("layers");
  Tensor x(&b, b.Input("x", {DType::kF32, {1, kWidth}}));
  for (int layer = 0; layer < kLayers; ++layer) {
    std::vector<uint8_t> weight(static_cast<size_t>(kWidth * blocks * bytes),
                                1);
    const Weight w{
        .packed = Tensor(&b, b.Constant(DType::kU8, {kWidth, blocks, bytes},
                                        Owned(std::move(weight)))),
        .format = format};
    x = x + TimesRows(x, w);
  }
  b.Output("y", x.value());
  StatusOr<graph::Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto module = compiler::Compile(*std::move(graph), {});
  EXPECT_TRUE(module.ok()) << module.status().ToString();
}

}  // namespace
}  // namespace ember::language_models

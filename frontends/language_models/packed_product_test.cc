// Compares integer products with weights, for each format that has them, with
// products of the scalar decoder's values. The activations are whole steps of
// their quantization, so that results are equal up to rounding.
#include "frontends/language_models/packed_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/graph/testing/evaluate.h"
#include "frontends/language_models/testing/decode_block.h"

namespace ember::language_models {
namespace {

constexpr int64_t kRows = 3, kBlocks = 4;

// Returns the offsets in a block of the format at which an f16 is stored.
std::vector<size_t> HalvesOf(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ4_1:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ4_K:
    case BlockFormat::kQ5_K:
      return {0, 2};
    case BlockFormat::kQ2_K:
      return {80, 82};
    case BlockFormat::kQ3_K:
      return {108};
    case BlockFormat::kQ6_K:
      return {208};
    default:
      return {0};
  }
}

graph::ConstantData Owned(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {owner, *owner};
}

TEST(PackedProduct, EqualsTheProductOfTheDecodedWeights) {
  // The seed is fixed, so that every run tests the same bytes.
  constexpr uint32_t kSeed = 7;
  for (const BlockFormat format :
       {BlockFormat::kQ4_0, BlockFormat::kQ4_1, BlockFormat::kQ5_0,
        BlockFormat::kQ5_1, BlockFormat::kQ8_0, BlockFormat::kQ2_K,
        BlockFormat::kQ3_K, BlockFormat::kQ4_K, BlockFormat::kQ5_K,
        BlockFormat::kQ6_K}) {
    const BlockFormatInfo& info = InfoOf(format);
    SCOPED_TRACE(std::string(info.name));
    std::mt19937 random(kSeed);
    const auto size = static_cast<size_t>(info.bytes);
    std::vector<uint8_t> bytes(kRows * kBlocks * size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    // Replaces the upper byte of each f16, so that scales are finite: about
    // 1/16.
    for (size_t at = 0; at < bytes.size(); at += size) {
      for (const size_t half : HalvesOf(format)) bytes[at + half + 1] = 0x2c;
    }
    const auto columns = static_cast<size_t>(kBlocks * info.elements);
    std::vector<float> x(columns);
    for (size_t k = 0; k < columns; ++k)
      x[k] = k % 16 == 5 ? 127 : static_cast<float>(random() % 255) - 127;
    graph::GraphBuilder b("product");
    const Weight w{.packed = Tensor(
                       &b, b.Constant(DType::kU8, {kRows, kBlocks, info.bytes},
                                      Owned(bytes))),
                   .format = format};
    ASSERT_TRUE(PackForProducts(w).has_value());
    const Tensor input(
        &b, b.Input("x", {DType::kF32, {1, static_cast<int64_t>(columns)}}));
    b.Output("y", TimesRows(input, w).value());
    const StatusOr<graph::Graph> graph = b.Finish();
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    std::vector<uint8_t> x_bytes(columns * sizeof(float));
    std::memcpy(x_bytes.data(), x.data(), x_bytes.size());
    const auto results = graph::Evaluate(
        *graph,
        std::vector{graph::TensorData{
            DType::kF32, {1, static_cast<int64_t>(columns)}, Owned(x_bytes)}});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    std::vector<float> got(kRows);
    ASSERT_EQ((*results)[0].data.bytes.size(), got.size() * sizeof(float));
    std::memcpy(got.data(), (*results)[0].data.bytes.data(),
                got.size() * sizeof(float));
    const std::vector<float> values = DecodeBlocks(format, bytes);
    for (size_t n = 0; n < got.size(); ++n) {
      double want = 0, magnitude = 0;
      for (size_t k = 0; k < columns; ++k) {
        const double term = static_cast<double>(x[k]) * values[n * columns + k];
        want += term;
        magnitude += std::abs(term);
      }
      EXPECT_NEAR(got[n], want, 1e-5 * magnitude) << "row " << n;
    }
  }
}

}  // namespace
}  // namespace ember::language_models

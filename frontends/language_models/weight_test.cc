// Compares each block format's tensor expressions with a scalar decoder, on
// random bytes.
#include "frontends/language_models/weight.h"

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

constexpr int64_t kRows = 3, kBlocks = 2;

graph::ConstantData Owned(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {owner, *owner};
}

DType PlainType(BlockFormat format) {
  if (format == BlockFormat::kF16) return DType::kF16;
  return format == BlockFormat::kBF16 ? DType::kBF16 : DType::kF32;
}

// Returns blocks of random bytes. The scales in them are random, too, so that
// some are NaN.
std::vector<uint8_t> RandomBlocks(BlockFormat format, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(
      static_cast<size_t>(kRows * kBlocks * InfoOf(format).bytes));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// Adds the weight as an input of the graph, so that it is not folded.
Weight InputWeight(graph::GraphBuilder& b, BlockFormat format) {
  const BlockFormatInfo& info = InfoOf(format);
  const Shape shape = info.elements > 1 ? Shape{kRows, kBlocks, info.bytes}
                                        : Shape{kRows, kBlocks};
  const DType type = info.elements > 1 ? DType::kU8 : PlainType(format);
  return {.packed = Tensor(&b, b.Input("w", {type, shape})), .format = format};
}

graph::TensorData WeightData(BlockFormat format, std::vector<uint8_t> bytes) {
  const BlockFormatInfo& info = InfoOf(format);
  if (info.elements > 1) {
    return {DType::kU8, {kRows, kBlocks, info.bytes}, Owned(std::move(bytes))};
  }
  return {PlainType(format), {kRows, kBlocks}, Owned(std::move(bytes))};
}

std::vector<float> FloatsOf(const graph::TensorData& data) {
  std::vector<float> floats(data.data.bytes.size() / sizeof(float));
  std::memcpy(floats.data(), data.data.bytes.data(), data.data.bytes.size());
  return floats;
}

void ExpectSame(const std::vector<float>& got, const std::vector<float>& want,
                const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    EXPECT_EQ(got[i], want[i]) << what << " element " << i;
  }
}

class FormatTest : public testing::TestWithParam<int> {
 protected:
  BlockFormat format() const { return static_cast<BlockFormat>(GetParam()); }
  // The seed is fixed, so that the name of a failed test replays it.
  uint32_t seed() const { return static_cast<uint32_t>(GetParam()) + 17; }
};

TEST_P(FormatTest, ValuesAreThoseOfTheScalarDecoder) {
  graph::GraphBuilder b("w");
  const Weight w = InputWeight(b, format());
  EXPECT_EQ(w.rank(), 2);
  b.Output("y", w.Values().value());
  const StatusOr<graph::Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  for (uint32_t round = 0; round < 4; ++round) {
    const std::vector<uint8_t> bytes =
        RandomBlocks(format(), seed() + 100 * round);
    const auto results =
        graph::Evaluate(*graph, std::vector{WeightData(format(), bytes)});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    const std::vector<float> want = DecodeBlocks(format(), bytes);
    EXPECT_EQ(
        (*results)[0].extents,
        (std::vector<int64_t>{kRows, kBlocks * InfoOf(format()).elements}));
    ExpectSame(FloatsOf((*results)[0]), want,
               std::string(InfoOf(format()).name));
  }
}

TEST_P(FormatTest, RowsAreGathered) {
  graph::GraphBuilder b("w");
  const Weight w = InputWeight(b, format());
  const int64_t picked[] = {2, 0};
  b.Output("y", GatherRows(w, Tensor(&b, b.Integers(picked))).value());
  const StatusOr<graph::Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const std::vector<uint8_t> bytes = RandomBlocks(format(), seed());
  const auto results =
      graph::Evaluate(*graph, std::vector{WeightData(format(), bytes)});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const std::vector<float> all = DecodeBlocks(format(), bytes);
  const std::ptrdiff_t row = kBlocks * InfoOf(format()).elements;
  std::vector<float> want(all.begin() + 2 * row, all.end());
  want.insert(want.end(), all.begin(), all.begin() + row);
  ExpectSame(FloatsOf((*results)[0]), want, std::string(InfoOf(format()).name));
}

INSTANTIATE_TEST_SUITE_P(
    All, FormatTest,
    testing::Range(0, static_cast<int>(std::size(kBlockFormats))),
    [](const testing::TestParamInfo<int>& info) {
      return std::string(kBlockFormats[info.param].name);
    });

TEST(BlockFormats, SizesAreChecked) {
  const int64_t whole[] = {3, 64};
  EXPECT_EQ(ByteSize(BlockFormat::kQ4_0, whole), 3 * 2 * 18);
  const int64_t part[] = {64, 3};
  EXPECT_EQ(ByteSize(BlockFormat::kQ4_0, part), std::nullopt);
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(ByteSize(BlockFormat::kF32, huge), std::nullopt);
  const int64_t none[] = {0, 32};
  EXPECT_EQ(ByteSize(BlockFormat::kQ8_0, none), std::nullopt);
  EXPECT_EQ(BlockFormatOfGgml(1000), std::nullopt);
}

}  // namespace
}  // namespace ember::language_models

// Tests which register tile the cost model chooses and if it asks for tests of
// padding, mostly in cases that one cost decides. Also tests how LoadWalk
// counts contiguous pieces.
#include "jit/schedule/cpu/register_tile.h"

#include <gtest/gtest.h>

#include <string>

#include "jit/schedule/core/computation.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

jit::CpuModel Avx2() {
  jit::CpuModel cpu;
  cpu.vector_bytes = 32;
  cpu.vector_registers = 16;
  cpu.has_fma = true;
  cpu.l1_bytes = 32 << 10;
  cpu.l2_bytes = 512 << 10;
  cpu.l3_bytes = 32 << 20;
  return cpu;
}

struct Choice {
  // the tile as text, "axis rows x vectors"; if the sum is unrolled, ", sum
  // written out" follows; if the last vector is peeled, ", last peeled"
  std::string tile;
  bool asks = false;
};

// Returns the register tile that is chosen for the dispatch's only stage.
Choice ChoiceOf(const std::string& text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const Computation computation = Disassemble(*dispatch, {});
  const StageShape shape(computation, 0);
  const jit::CpuModel cpu = Avx2();
  const auto tile = ChooseRegisterTile(cpu, shape);
  if (!tile) return {"none", false};
  Choice choice;
  choice.tile = (tile->u < 0 ? "-" : shape.stage().axes[tile->u].name) + " " +
                std::to_string(tile->rows) + " x " +
                std::to_string(tile->vectors) +
                (tile->writes_out_sum ? ", sum written out" : "") +
                (tile->peels_vectors ? ", last peeled" : "");
  for (NodeId load : shape.loads()) {
    if (shape.IsPadded(load))
      choice.asks = AsksForPadding(cpu, shape, *tile, load);
  }
  return choice;
}

std::string Depthwise(int size, int channels, int stride) {
  const std::string in = std::to_string(size), c = std::to_string(channels);
  const std::string out = std::to_string(size / stride);
  const std::string step = " * " + std::to_string(stride);
  return "dispatch @depthwise(%x: f32[1, " + in + ", " + in + ", " + c +
         "], %w: f32[3, 3, " + c + "]) -> (%y: f32[1, " + out + ", " + out +
         ", " + c + "]) {\n%y[n, h, w, c] = sum(p < 3, q < 3) pad(%x[n, h" +
         step + " + p - 1, w" + step + " + q - 1, c], 0.0) * %w[p, q, c]\n}";
}

TEST(RegisterTile, MatrixProducts) {
  const Choice choice = ChoiceOf(
      "dispatch @product(%a: f32[128, 768], %b: f32[768, 3072]) -> (%y: "
      "f32[128, 3072]) {\n%y[i, j] = sum(k < 768) %a[i, k] * %b[k, j]\n}");
  EXPECT_EQ(choice.tile, "i 6 x 2");
}

// For large operands, a tile has all 12 vectors of a pixel's channels, so that
// memory is read in long pieces. For small operands, which are in a cache, a
// tile has several pixels, which share loads.
TEST(RegisterTile, DepthwiseConvolutions) {
  const Choice large = ChoiceOf(Depthwise(112, 96, 2));
  EXPECT_EQ(large.tile, "w 1 x 12, sum written out");
  EXPECT_TRUE(large.asks);
  const Choice small = ChoiceOf(Depthwise(14, 384, 1));
  EXPECT_EQ(small.tile, "w 2 x 4, sum written out");
  EXPECT_TRUE(small.asks);
  // The channels are 17 vectors, a prime number, so a tile has one vector of
  // each of several pixels.
  const Choice odd = ChoiceOf(Depthwise(28, 136, 1));
  EXPECT_EQ(odd.tile, "w 7 x 1, sum written out");
  EXPECT_TRUE(odd.asks);
  // 140 channels are no multiple of a vector, so some lanes of the last vector
  // would be in the padding and others not. The padding is then copied instead
  // of being tested at each load.
  EXPECT_FALSE(ChoiceOf(Depthwise(28, 140, 1)).asks);
}

// 140 and 36 columns leave the last vector half full. The depthwise convolution
// has few steps per store, so the last tile is peeled. The product has many
// steps per store, so it masks its vectors instead.
TEST(RegisterTile, PartialVectorsArePeeled) {
  EXPECT_EQ(ChoiceOf(Depthwise(28, 140, 1)).tile,
            "w 4 x 2, sum written out, last peeled");
  EXPECT_EQ(ChoiceOf("dispatch @product(%a: f32[172, 256], %b: f32[256, 36]) "
                     "-> (%y: f32[172, 36]) {\n%y[i, j] = sum(k < 256) "
                     "%a[i, k] * %b[k, j]\n}")
                .tile,
            "i 2 x 5");
}

// Each input element is used for 64 output channels, so one padded copy costs
// less than 64 tests for padding.
TEST(RegisterTile, PaddingOfConvolutionsIsCopied) {
  EXPECT_FALSE(ChoiceOf(R"(
    dispatch @conv(%x: f32[1, 56, 56, 64], %f: f32[3, 3, 64, 64]) -> (%y: f32[1, 56, 56, 64]) {
      %y[n, h, w, o] = sum(p < 3, q < 3, c < 64) pad(%x[n, h + p - 1, w + q - 1, c], 0.0) * %f[p, q, c, o]
    })")
                   .asks);
}

TEST(LoadWalk, Pieces) {
  // The load reads an image of 20 by 20 pixels with 32 channels. A step along
  // the second axis moves by two pixels of a line.
  LoadWalk walk{.dims = {20, 20, 32},
                .steps = {{1, 0, 0}, {0, 2, 0}, {0, 0, 1}}};
  const auto over = [&](int64_t a, int64_t b, int64_t c) {
    const int64_t extents[] = {a, b, c};
    const LoadWalk::Pieces pieces = walk.Over(extents);
    return std::to_string(pieces.count) + " of " +
           std::to_string(pieces.elements);
  };
  EXPECT_EQ(over(1, 1, 8), "1 of 8");
  EXPECT_EQ(over(1, 4, 8), "4 of 8");
  EXPECT_EQ(over(3, 1, 32), "3 of 32");
  // A step of two pixels leaves a gap, so each pixel is a contiguous piece of
  // its own.
  EXPECT_EQ(over(1, 10, 32), "10 of 32");
  walk.steps[1] = {0, 1, 0};
  EXPECT_EQ(over(2, 20, 32), "1 of 1280");
  EXPECT_EQ(over(2, 19, 32), "2 of 608");
}

}  // namespace
}  // namespace ember::schedule

// Tests matrix products for which a separate warp copies parts of the factors
// as boxes of tensors, on an emulated sm_90a: results are right, the other
// warps have no more barriers than they need, and kernels are persistent.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/ptx/testing/device.h"
#include "jit/ptx/testing/products.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BoxProducts : public ::testing::Test {
 protected:
  // Chooses the emulated architecture, before any test opens the device.
  static void SetUpTestSuite() {
    setenv("EMBER_CUDA_EMULATE", "sm_90a", /*replace=*/1);
  }
  void SetUp() override {
    if (TestDevice()->target().find("+tensor_maps") == std::string::npos)
      GTEST_SKIP() << "a device without boxes: " << TestDevice()->target();
  }
};

size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

// Sizes of a product's tiles. Each iteration takes 64 steps of the sum; its
// factors fill one of `slots` slots. is_finished: false if the sums are stored
// as they are (%y); true if they go through the workgroup's memory, where
// invocations compute %y from %sum.
struct Tiles {
  int rows = 64;
  int columns = 64;
  int slots = 4;
  bool is_finished = false;
};

std::string ScheduleOf(const Tiles& tiles) {
  const auto number = [](int value) { return std::to_string(value); };
  const std::string rows = number(tiles.rows), columns = number(tiles.columns),
                    threads = number(2 * tiles.rows);
  std::string text = "split %y i " + rows + " -> i_tile i_rest\nsplit %y j " +
                     columns + " -> j_tile j_rest\n";
  std::string stage = "y", i = "i_rest", j = "j_rest", outer;
  if (tiles.is_finished) {
    text +=
        "split %y j_rest 4 -> j_rest_vector j_rest_lane\nreorder %y "
        "i_tile j_tile i_rest j_rest_vector j_rest_lane\nfuse %y "
        "i_tile j_tile -> tasks\nparallel %y tasks\n"
        "fuse %y i_rest j_rest_vector -> points\nsplit %y points " +
        threads +
        " -> points_round points_item\nbind %y points_item\n"
        "vectorize %y j_rest_lane\ncompute_at %sum %y tasks\n";
    stage = "sum";
    i = "i";
    j = "j";
  } else {
    outer = "i_tile j_tile ";
  }
  const auto line = [&](const std::string& what, const std::string& rest) {
    text += what + " %" + stage + " " + rest + "\n";
  };
  line("split", i + " " + rows + " -> i_count i_round");
  line("split", "i_round 16 -> i_subgroup i_matrix");
  line("split", j + " " + columns + " -> j_subgroup j_part");
  line("split", "j_part " + columns + " -> j_count j_matrix");
  line("split", "k 64 -> k_slice k_rest");
  line("split", "k_rest 16 -> k_step k_matrix");
  line("reorder", outer +
                      "k_slice j_subgroup i_subgroup k_step i_count "
                      "j_count i_matrix j_matrix k_matrix");
  if (!tiles.is_finished) line("fuse", outer + "-> tasks");
  line("fuse", "j_subgroup i_subgroup -> subgroups");
  for (const char* loop : {"k_step", "i_count", "j_count"})
    line("unroll", loop);
  for (const std::string factor : {"b", "a"}) {
    const std::string copy = factor + ".slice";
    line("cache_read", "%" + factor + " -> " + copy);
    text += "compute_at %" + copy + " %" + stage + " k_slice\nsplit %" + copy +
            " c1 8 -> c1_vector c1_lane\nfuse %" + copy +
            " c0 c1_vector -> all\nsplit %" + copy + " all " + threads +
            " -> all_round all_item\nreorder %" + copy +
            " all_item all_round c1_lane\nbind %" + copy +
            " all_item\nvectorize %" + copy + " c1_lane\n";
  }
  line("multiply_matrices", "subgroups i_matrix j_matrix k_matrix");
  for (const std::string factor : {"b", "a"}) {
    const std::string copy = "%" + factor + ".slice";
    text += "unroll " + copy + " all_round\ndouble_buffer " + copy + " async " +
            number(tiles.slots) +
            (tiles.slots > 3 ? " late spare\n" : " late\n");
  }
  if (!tiles.is_finished) text += "parallel %y tasks\n";
  return text;
}

// Shows that the producer warp copies for the other warps, and begins the
// workgroup's next task while they finish the current one. The single processor
// holds fewer workgroups than there are tiles (five), so some workgroups have
// two tasks. A task has five iterations, which is no multiple of the slots, so
// the second task begins with another slot. Each iteration copies two boxes,
// one of each factor.
TEST_F(BoxProducts, ProducersGoOnToFurtherTasks) {
  for (const int slots : {4, 3}) {
    const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
    const std::string schedule = ScheduleOf({.slots = slots});
    std::string ptx;
    ExpectOnGrid(
        "dispatch @product(%a: f16[64, 320], %b: f16[320, 320]) -> "
        "(%y: f32[64, 320]) { %y[i, j] = sum(k < 320) f32(%a[i, k]) * "
        "f32(%b[k, j]) }",
        &ptx,
        {.schedule = schedule,
         .without = "+processors132",
         .instead = "+processors1"});
    EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d"));
    EXPECT_THAT(ptx, HasSubstr("%nctaid.y"));
    EXPECT_THAT(ptx, HasSubstr("wgmma.wait_group.sync.aligned 1;"));
    // The only barrier of all threads is the one after the initialisation of
    // the slots' barriers.
    EXPECT_EQ(CountOf(ptx, "bar.sync"), 1u);
    const hal::cuda::GridStatistics after = hal::cuda::TotalStatistics();
    EXPECT_EQ(after.box_copies - before.box_copies, 5u * 5 * 2);
    EXPECT_EQ(after.async_copies, before.async_copies);
  }
}

// The sums are written over the ring's slots in the workgroup's memory, where
// invocations finish them. So the producer must not begin the next task early,
// and there are further barriers.
TEST_F(BoxProducts, ProducersOfResultsThatOthersFinish) {
  const std::string schedule = ScheduleOf({.is_finished = true});
  std::string ptx;
  ExpectOnGrid(
      "dispatch @product(%a: f16[60, 320], %b: f16[320, 192], %c: f32[192]) -> "
      "(%y: f16[60, 192]) { temp %sum: f32[60, 192] %sum[i, j] = sum(k < 320) "
      "f32(%a[i, k]) * f32(%b[k, j]) %y[i, j] = f16(max(%sum[i, j] + %c[j], "
      "0.0)) }",
      &ptx, {.within = 1e-2, .schedule = schedule});
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d"));
  EXPECT_GE(CountOf(ptx, "bar.sync"), 2u);
}

// Tests a convolution, in which the rows of the product's left factor are
// pixels of an image with padding around it. The boxes have four dims.
TEST_F(BoxProducts, BoxesOfImages) {
  std::string ptx;
  ExpectOnGrid(R"(
    dispatch @conv(%x: f16[2, 2, 64, 64], %w: f16[3, 3, 64, 64])
        -> (%y: f32[2, 2, 64, 64]) {
      %y[n, h, w, o] = sum(dh < 3, dw < 3, c < 64)
          f32(pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0)) *
          f32(%w[dh, dw, c, o])
    })",
               &ptx);
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.4d"));
}

// Sizes of a convolution of `count` images, each of `lines` lines of `pixels`
// pixels, from 64 channels to 64. `step` is the stride. The images are padded
// with zeros.
struct Images {
  int count = 32;
  int lines = 1;
  int pixels = 4;
  int window_lines = 1;
  int window_pixels = 4;
  int step = 1;
  bool is_finished = true;
};

std::string ConvolutionOf(const Images& images) {
  const auto number = [](int value) { return std::to_string(value); };
  const std::string step = images.step == 1 ? "" : " * " + number(images.step);
  const std::string type = images.is_finished ? "f16" : "f32";
  const auto dims = [&](int step_of_image) {
    return "[" + number(images.count) + ", " +
           number(images.lines * step_of_image) + ", " +
           number(images.pixels * step_of_image) + ", 64]";
  };
  const std::string window =
      number(images.window_lines) + ", " + number(images.window_pixels);
  const std::string sum =
      "[n, h, w, o] = sum(dh < " + number(images.window_lines) + ", dw < " +
      number(images.window_pixels) + ", c < 64) f32(pad(%x[n, h" + step +
      " + dh - 1, w" + step + " + dw - 1, c], 0.0)) * f32(%w[dh, dw, c, o])\n";
  return "dispatch @conv(%x: f16" + dims(images.step) + ", %w: f16[" + window +
         ", 64, 64]) -> (%y: " + type + dims(1) + ") {\n" +
         (images.is_finished
              ? "temp %sum: f32" + dims(1) + "\n%sum" + sum +
                    "%y[n, h, w, o] = f16(max(%sum[n, h, w, o], 0.0))\n}"
              : "%y" + sum + "}");
}

// Shows that boxes are copied if a tile of the product takes one or two pixels
// from each of many images. Its slot has the elements pixel by pixel, so in
// another order than the tensor. Tiles extend beyond the last pixel and the
// last image.
TEST_F(BoxProducts, BoxesOfManyImages) {
  for (const Images& images :
       {Images{.lines = 2, .pixels = 3, .window_lines = 2, .window_pixels = 2},
        Images{.count = 24, .pixels = 5},
        Images{.pixels = 7, .is_finished = false},
        Images{.count = 16,
               .pixels = 14,
               .window_lines = 2,
               .window_pixels = 2}}) {
    const std::string text = ConvolutionOf(images);
    SCOPED_TRACE(text);
    std::string ptx;
    const uint64_t before = hal::cuda::TotalStatistics().box_copies;
    ExpectOnGrid(text, &ptx, {.within = 1e-2});
    EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.4d"));
    EXPECT_THAT(ptx, Not(HasSubstr("ldmatrix")));
    EXPECT_THAT(ptx, Not(HasSubstr("cp.async.cg")));
    EXPECT_GT(hal::cuda::TotalStatistics().box_copies, before);
    if (HasFailure()) return;
  }
}

// Shows that a convolution with a stride of two copies no boxes of the image:
// the pixels that it reads are not contiguous, so its rows do not form panels,
// and ldmatrix loads them.
TEST_F(BoxProducts, StepsOfWindowsLeaveGaps) {
  std::string ptx;
  ExpectOnGrid(ConvolutionOf({.pixels = 4, .window_pixels = 4, .step = 2}),
               &ptx, {.within = 1e-2});
  EXPECT_THAT(ptx, HasSubstr("wgmma"));
  EXPECT_THAT(ptx, HasSubstr("ldmatrix"));
}

// Tests random products, all of which must copy boxes: with sizes that are
// multiples of a box or not, many iterations or few, and any layout of the
// factors.
TEST_F(BoxProducts, AtRandom) {
  const SeedRange seeds = TestSeeds(4, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
    tensor::RandomChoices choices(seed);
    const Tiles tiles = {.rows = choices.Chance(3) ? 128 : 64,
                         .columns = choices.Chance(3) ? 128 : 64,
                         .slots = choices.Chance(2) ? 3 : 4,
                         .is_finished = choices.Chance(3)};
    // Sums that are stored by matrix loops need sizes that are whole matrices;
    // a stage that finishes sums allows others.
    const auto pick = [&](const std::vector<int>& odd,
                          const std::vector<int>& whole) {
      return std::to_string(choices.Pick(tiles.is_finished ? odd : whole));
    };
    const std::string m = pick({8, 56, 64, 72, 120}, {16, 64, 112, 128}),
                      n = pick({8, 64, 72, 136},
                               {tiles.columns, 2 * tiles.columns}),
                      k = std::to_string(
                          choices.Pick(std::vector<int>{192, 256, 320, 448}));
    const std::string type = choices.Chance(2) ? "f16" : "bf16";
    const bool by_rows = choices.Chance(2), b_by_rows = choices.Chance(2);
    const std::string dims = "[" + m + ", " + n + "]";
    std::string text =
        "dispatch @any(%a: " + type + "[" +
        (by_rows ? m + ", " + k : k + ", " + m) + "], %b: " + type + "[" +
        (b_by_rows ? k + ", " + n : n + ", " + k) +
        "]) -> (%y: " + (tiles.is_finished ? type : "f32") + dims + ") { ";
    const std::string product = "[i, j] = sum(k < " + k + ") f32(%a[" +
                                (by_rows ? "i, k" : "k, i") + "]) * f32(%b[" +
                                (b_by_rows ? "k, j" : "j, k") + "])";
    if (tiles.is_finished) {
      text += "temp %sum: f32" + dims + " %sum" + product +
              " %y[i, j] = " + type + "(max(%sum[i, j], 0.0)) }";
    } else {
      text += "%y" + product + " }";
    }
    SCOPED_TRACE(text);
    const std::string schedule = ScheduleOf(tiles);
    const uint64_t before = hal::cuda::TotalStatistics().box_copies;
    ExpectOnGrid(
        text, nullptr,
        {.within = 1e-2,
         .schedule = schedule,
         .without = "+processors132",
         .instead = choices.Chance(2) ? "+processors1" : "+processors132"});
    EXPECT_GT(hal::cuda::TotalStatistics().box_copies, before);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ember::jit::ptx

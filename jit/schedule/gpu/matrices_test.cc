// Tests products of f16 and bytes under the default schedules of GPUs whose
// subgroups multiply matrices: the schedules that they get, and that these
// compute the dispatch's results without races.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPlain =
    "vulkan1.3+subgroup32+shared49152+invocations1024";
// A Vulkan target with the types of matrices that NVIDIA's devices have.
constexpr std::string_view kMatrices =
    "vulkan1.3+subgroup32+shared49152+invocations1024+"
    "matrix16x16x16:f16:f16:f32+matrix16x8x16:f16:f16:f32+"
    "matrix16x16x32:u8:i8:i32+matrix16x16x32:i8:i8:i32";

struct Made {
  std::string schedule;
  std::string nest;
};

// Makes the default schedule of the dispatch on the GPU, and lowers it to a
// nest. constant: name of an input that is a constant of the module.
Made MakeOn(const jit::GpuModel& gpu, std::string_view text,
            std::string_view constant = "") {
  Made made;
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  if (!dispatch.ok()) return made;
  Computation computation = Disassemble(*dispatch, {});
  for (ComputationBuffer& buffer : computation.buffers)
    buffer.is_constant = buffer.name == constant;
  Schedule schedule(std::move(computation));
  const Status chosen = ScheduleForGpu(gpu, schedule);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  made.schedule = schedule.ToText();
  const auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString() << made.schedule;
  if (!nest.ok()) return made;
  made.nest = loops::ToText(*nest);
  const Status verified = loops::Verify(*nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString() << made.nest;
  return made;
}

// Returns the model of a target. busy: number of invocations that keep the
// device busy. It is small, so that dispatches which are small enough for the
// evaluator already have several subgroups.
jit::GpuModel ModelOf(std::string_view target, int64_t busy) {
  jit::GpuModel gpu = jit::GpuModel::Of(target);
  gpu.busy_invocations = busy;
  // On a device that is a CPU, subgroups are small, because they are the lanes
  // of its vectors. The target may look like one, but the tests need a GPU.
  gpu.is_cpu_like = false;
  return gpu;
}

Made Make(std::string_view text, std::string_view target = kMatrices,
          int64_t busy = 256, std::string_view constant = "") {
  return MakeOn(ModelOf(target, busy), text, constant);
}

// Makes the schedule and nest as MakeOn does, and checks that the nest computes
// the dispatch's results.
Made CheckOn(const jit::GpuModel& gpu, std::string_view text,
             std::string_view constant = "") {
  SCOPED_TRACE(text);
  Made made = MakeOn(gpu, text, constant);
  const auto nest = loops::Parse(made.nest);
  EXPECT_TRUE(nest.ok());
  if (!nest.ok()) return made;
  tensor::RandomCase random;
  random.seed = 3;
  random.dispatch = *tensor::Parse(text);
  auto expected = random.MakeBuffers(), found = random.MakeBuffers();
  EXPECT_TRUE(
      tensor::Evaluate(random.dispatch, {}, tensor::Pointers(expected), {})
          .ok());
  const Status evaluated = loops::Evaluate(*nest, {}, tensor::Pointers(found),
                                           {.refuse_races = true});
  EXPECT_TRUE(evaluated.ok()) << evaluated.ToString() << made.nest;
  EXPECT_EQ(tensor::FirstDifference(random, expected, found), "") << made.nest;
  return made;
}

Made Check(std::string_view text, std::string_view target = kMatrices,
           int64_t busy = 256, std::string_view constant = "") {
  return CheckOn(ModelOf(target, busy), text, constant);
}

std::string Product(const std::string& m, const std::string& n,
                    const std::string& k) {
  return "dispatch @product(%a: f16[" + m + ", " + k + "], %b: f16[" + k +
         ", " + n + "]) -> (%y: f32[" + m + ", " + n +
         "]) { %y[i, j] = sum(k < " + k + ") f32(%a[i, k]) * f32(%b[k, j]) }";
}

TEST(GpuMatrices, AreStoredWhereResultsLie) {
  const Made made = Check(Product("32", "48", "64"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y"));
  EXPECT_THAT(made.nest, HasSubstr("task %a.slice: f16["));
  EXPECT_THAT(made.nest, HasSubstr("task %b.slice: f16["));
  EXPECT_THAT(made.nest, Not(HasSubstr("task %y")));
}

// Both factors are stored transposed: the sum runs over the rows of %a and over
// the columns of %b.
TEST(GpuMatrices, OfTransposedFactors) {
  EXPECT_THAT(Check(R"(
    dispatch @transposed(%a: f16[64, 32], %b: f16[32, 64]) -> (%y: f32[32, 32]) {
      %y[i, j] = sum(k < 64) f32(%a[k, i]) * f32(%b[j, k])
    })")
                  .schedule,
              HasSubstr("multiply_matrices"));
}

// The matrices cannot be stored directly: sizes are no multiples of a matrix,
// results have another type, and a stage follows. Matrices are then stored to
// memory of the workgroup, and invocations compute the results from there.
TEST(GpuMatrices, AreFinishedByInvocations) {
  Made made = Check(R"(
    dispatch @layer(%x: f16[37, 50], %w: f16[50, 41], %c: f16[41]) -> (%y: f16[37, 41]) {
      temp %s: f32[37, 41]
      %s[i, j] = sum(k < 50) f32(%x[i, k]) * f32(%w[k, j])
      %y[i, j] = max(f16(%s[i, j]) + %c[j], 0.0)
    })");
  EXPECT_THAT(made.schedule, HasSubstr("pad %s k 16"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %s"));
  EXPECT_THAT(made.nest, HasSubstr("task %s: f32["));
  // No stage follows the product, but the sizes are no multiples of a matrix.
  made = Check(Product("40", "24", "64"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.matrices"));
}

TEST(GpuMatrices, OfBatches) {
  const Made made = Check(R"(
    dispatch @batch(%a: f16[3, 32, 64], %b: f16[3, 64, 32]) -> (%y: f16[3, 32, 32]) {
      temp %s: f32[3, 32, 32]
      %s[n, i, j] = sum(k < 64) f32(%a[n, i, k]) * f32(%b[n, k, j])
      %y[n, i, j] = f16(%s[n, i, j] * 0.125)
    })");
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %s"));
}

TEST(GpuMatrices, OfBytes) {
  const Made made = Check(R"(
    dispatch @bytes(%x: u8[48, 96], %w: i8[96, 32]) -> (%y: i32[48, 32]) {
      %y[i, j] = sum(k < 96) i32(%x[i, k]) * i32(%w[k, j])
    })");
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y"));
  EXPECT_THAT(made.nest, HasSubstr("matrix k_rest_matrix < 32"));
  // The target has no matrices of u8 by u8, so the product has none.
  EXPECT_THAT(Check(R"(
    dispatch @bytes(%x: u8[48, 96], %w: u8[96, 32]) -> (%y: i32[48, 32]) {
      %y[i, j] = sum(k < 96) i32(%x[i, k]) * i32(%w[k, j])
    })")
                  .schedule,
              Not(HasSubstr("multiply_matrices")));
}

// The device has u8 by i8 and i8 by u8 matrices, which are mirrored. The rule
// chooses the type whose columns are contiguous in the results' memory, so that
// lanes store neighbours.
TEST(GpuMatrices, HaveColumnsAlongResults) {
  constexpr std::string_view kBoth =
      "vulkan1.3+subgroup32+shared49152+invocations1024+"
      "matrix16x8x32:i8:u8:i32+matrix16x8x32:u8:i8:i32";
  for (const char* type : {"u8", "i8"}) {
    const std::string other = *type == 'u' ? "i8" : "u8";
    const Made made = Check(
        "dispatch @bytes(%x: " + std::string(type) + "[48, 96], %w: " + other +
            "[96, 32]) -> (%y: i32[48, 32]) { %y[i, j] = sum(k < 96) "
            "i32(%x[i, k]) * i32(%w[k, j]) }",
        kBoth);
    EXPECT_THAT(made.schedule,
                HasSubstr("i_rest_part_matrix j_rest_part_matrix "
                          "k_rest_matrix"));
  }
}

// CUDA's instructions do not transpose matrices of bytes. So a constant of
// bytes is packed once if its steps of the sum are not contiguous. Constants of
// 16 bits are read as they are, and so are all constants on other devices.
TEST(GpuMatrices, ConstantsArePackedForCuda) {
  constexpr std::string_view kCuda =
      "sm_80+subgroup32+shared166912+invocations1024";
  const auto product = [](const std::string& a, const std::string& b,
                          const std::string& sum) {
    return "dispatch @p(%x: " + a + "[48, 96], %w: " + b +
           "[96, 32]) -> (%y: " + sum + "[48, 32]) { %y[i, j] = sum(k < 96) " +
           sum + "(%x[i, k]) * " + sum + "(%w[k, j]) }";
  };
  const std::string bytes = product("u8", "i8", "i32");
  const Made made = Check(bytes, kCuda, /*busy=*/256, "w");
  EXPECT_THAT(made.schedule, HasSubstr("pack %y %w 1 0 -> w.packed"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y"));
  EXPECT_THAT(made.nest, HasSubstr("packed %w.packed: i8[32, 96]"));
  EXPECT_THAT(made.nest, HasSubstr("prologue"));
  for (const Made& other : {Make(bytes, kCuda, /*busy=*/256, "x"),
                            Make(bytes, kMatrices, /*busy=*/256, "w"),
                            Make(product("f16", "f16", "f32"), kCuda,
                                 /*busy=*/256, "w")}) {
    EXPECT_THAT(other.schedule, HasSubstr("multiply_matrices %y"));
    EXPECT_THAT(other.schedule, Not(HasSubstr("pack %y")));
  }
  // In a convolution each position in the window has its own matrix of weights,
  // which is packed.
  EXPECT_THAT(Check(R"(
    dispatch @conv(%x: u8[1, 6, 18, 32], %w: i8[3, 3, 32, 16]) -> (%y: i32[1, 4, 16, 16]) {
      %y[n, h, v, o] = sum(r < 3, q < 3, c < 32) i32(%x[n, h + r, v + q, c]) * i32(%w[r, q, c, o])
    })",
                    kCuda, /*busy=*/256, "w")
                  .schedule,
              HasSubstr("pack %y %w 0 1 3 2 -> w.packed"));
}

// In a convolution, the pixels of a line are the rows of a tile, and each
// subgroup has other lines.
TEST(GpuMatrices, OfConvolutions) {
  const Made made = Check(R"(
    dispatch @conv(%x: f16[1, 6, 18, 16], %w: f16[3, 3, 16, 16], %c: f16[16]) -> (%y: f16[1, 4, 16, 16]) {
      temp %s: f32[1, 4, 16, 16]
      %s[n, h, v, o] = sum(r < 3, q < 3, c < 16) f32(%x[n, h + r, v + q, c]) * f32(%w[r, q, c, o])
      %y[n, h, v, o] = f16(max(%s[n, h, v, o] + f32(%c[o]), 0.0))
    })");
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %s"));
}

// Products of sizes that matrices fill and sizes that they do not, with factors
// of either layout, and with and without stages after them.
TEST(GpuMatrices, OfAnySizes) {
  constexpr std::string_view kSmall =
      "vulkan1.3+subgroup4+shared8192+invocations64+"
      "matrix4x8x4:f16:f16:f32+matrix8x4x8:u8:i8:i32";
  const SeedRange seeds = TestSeeds(40, 0);
  int matrices = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //jit/schedule/gpu:matrices_test");
    tensor::RandomChoices choices(seed);
    const auto size = [&](int most) {
      const int of_four = 4 * (1 + choices.Below(most / 4));
      return std::to_string(choices.Chance(2) ? of_four
                                              : 2 + choices.Below(most));
    };
    const std::string l = std::to_string(1 + choices.Below(2));
    const std::string m = size(36), n = size(36),
                      k = std::to_string(8 + choices.Below(20));
    const bool is_half = !choices.Chance(3);
    const std::string sum = is_half ? "f32" : "i32";
    const bool a_by_rows = choices.Chance(2), b_by_rows = choices.Chance(2);
    std::string text =
        "dispatch @any(%a: " + std::string(is_half ? "f16" : "u8") + "[" + l +
        ", " + (a_by_rows ? m + ", " + k : k + ", " + m) +
        "], %b: " + (is_half ? "f16" : "i8") + "[" + l + ", " +
        (b_by_rows ? k + ", " + n : n + ", " + k) + "]) -> (";
    const std::string product = "sum(k < " + k + ") " + sum + "(%a[" +
                                (a_by_rows ? "l, i, k" : "l, k, i") + "]) * " +
                                sum + "(%b[" +
                                (b_by_rows ? "l, k, j" : "l, j, k") + "])";
    const std::string extents = "[" + l + ", " + m + ", " + n + "]";
    if (choices.Chance(2)) {
      text += "%y: " + sum + extents + ") { %y[l, i, j] = " + product + " }";
    } else {
      text += "%y: i64" + extents + ") { temp %s: " + sum + extents +
              " %s[l, i, j] = " + product +
              " %y[l, i, j] = i64(%s[l, i, j]) + j }";
    }
    const Made made = Check(text, kSmall, /*busy=*/16);
    matrices += made.schedule.find("multiply_matrices") != std::string::npos;
    if (::testing::Test::HasFailure()) return;
  }
  if (seeds.end - seeds.begin >= 40) {
    EXPECT_GT(matrices, 20);
  }
}

// Returns a device of eight processors on which a second phase costs nothing
// but the data that it moves, so that even short sums are split.
jit::GpuModel EightProcessors(std::string_view target) {
  jit::GpuModel gpu = jit::GpuModel::Of(target);
  gpu.processors = 8;
  gpu.busy_invocations = 8 * 128;
  gpu.latency_clocks = 0;
  return gpu;
}

// The product has few results and long sums, so the sums are split. The parts
// are computed as matrices, with slices that are copied by vectors. A second
// phase adds the parts up, four results per invocation.
TEST(GpuMatrices, PartsOfLongSums) {
  const jit::GpuModel gpu =
      EightProcessors("sm_80+subgroup32+shared166912+invocations1024");
  Made made = CheckOn(gpu, R"(
    dispatch @layer(%x: f16[16, 512], %w: f16[512, 32], %c: f32[32]) -> (%y: f16[16, 32]) {
      temp %s: f32[16, 32]
      %s[i, j] = sum(k < 512) f32(%x[i, k]) * f32(%w[k, j])
      %y[i, j] = f16(max(%s[i, j] + %c[j], 0.0))
    })");
  EXPECT_THAT(made.schedule, HasSubstr("rfactor %s k/"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %s.parts"));
  EXPECT_THAT(made.schedule, HasSubstr("double_buffer %x.slice async"));
  EXPECT_THAT(made.schedule, HasSubstr("double_buffer %w.slice async"));
  EXPECT_THAT(made.schedule, HasSubstr("vectorize %y j_lane"));
  EXPECT_THAT(made.schedule, HasSubstr("vectorize %s j"));
  // No stage follows the sum, so the second phase only adds up the parts.
  made = CheckOn(gpu, Product("16", "32", "512"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.parts"));
  EXPECT_THAT(made.schedule, HasSubstr("vectorize %y j_lane"));
  // A batch of products of bytes, whose results are multiples of neither
  // vectors nor matrices.
  made = CheckOn(gpu, R"(
    dispatch @batch(%a: u8[2, 15, 512], %b: i8[2, 30, 512]) -> (%y: i32[2, 15, 30]) {
      %y[n, i, j] = sum(k < 512) i32(%a[n, i, k]) * i32(%b[n, j, k])
    })");
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.parts"));
  // The sums of a grouped convolution are divided along the channels or along
  // the window.
  made = CheckOn(gpu, R"(
    dispatch @conv(%x: f16[1, 3, 9, 2, 64], %w: f16[3, 2, 2, 64, 16]) -> (%y: f32[1, 2, 8, 2, 16]) {
      %y[n, h, v, g, o] = sum(r < 3, q < 2, c < 64)
          f32(pad(%x[n, h + r - 1, v + q, g, c], 0.0)) * f32(%w[r, q, g, c, o])
    })");
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.parts"));
  // There are enough tiles for all processors, so sums are not split.
  made = CheckOn(gpu, Product("64", "128", "64"));
  EXPECT_THAT(made.schedule, Not(HasSubstr("rfactor")));
}

// 144 rows are three tiles of at most 64 rows on two processors. The last 16
// rows are cut off, and their sums are divided into ranges, so that both
// processors get a share. The phase of these ranges does not depend on that of
// the whole tiles.
TEST(GpuMatrices, RestsOfWavesAreInParts) {
  jit::GpuModel gpu =
      EightProcessors("sm_80+subgroup32+shared166912+invocations32");
  gpu.processors = 2;
  gpu.busy_invocations = 512;
  Made made = CheckOn(gpu, R"(
    dispatch @layer(%x: f16[144, 512], %w: f16[512, 16], %c: f32[16]) -> (%y: f16[144, 16]) {
      temp %s: f32[144, 16]
      %s[i, j] = sum(k < 512) f32(%x[i, k]) * f32(%w[k, j])
      %y[i, j] = f16(max(%s[i, j] + %c[j], 0.0))
    })");
  EXPECT_THAT(made.schedule, HasSubstr("cut %y i 128 -> y.rest"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %s subgroups"));
  EXPECT_THAT(made.schedule, HasSubstr("stream %y.rest.s k/64 4 i/16 j/16"));
  EXPECT_THAT(made.schedule,
              HasSubstr("multiply_matrices %y.rest.s.parts subgroups"));
  EXPECT_THAT(made.schedule, HasSubstr("vectorize %y.rest j_lane"));
  made = MakeOn(gpu, Product("144", "16", "512"));
  EXPECT_THAT(made.schedule, HasSubstr("cut %y i 128 -> y.rest"));
  // The stage %f, which computes a factor row by row, is cut like the product.
  // Both of its parts still run in invocations.
  made = CheckOn(gpu, R"(
    dispatch @scaled(%x: f16[144, 512], %r: f16[144], %w: f16[512, 16]) -> (%y: f32[144, 16]) {
      temp %f: f16[144, 512]
      %f[i, k] = %x[i, k] * %r[i]
      %y[i, j] = sum(k < 512) f32(%f[i, k]) * f32(%w[k, j])
    })");
  EXPECT_THAT(made.schedule, HasSubstr("cut %y i 128 -> y.rest"));
  EXPECT_THAT(made.schedule, HasSubstr("bind %f "));
  EXPECT_THAT(made.schedule, HasSubstr("bind %y.rest.f "));
  // 128 rows are two tiles, one for each processor. They fill a whole wave (the
  // tiles that run at once), so no rest of the results is cut off.
  made = MakeOn(gpu, Product("128", "16", "512"));
  EXPECT_THAT(made.schedule, Not(HasSubstr("cut")));
}

// Sums are divided into ranges of slices, one per workgroup that runs at once
// (stream-K), if there are fewer tiles than such workgroups, and equal parts
// would make too many or far too few tasks.
TEST(GpuMatrices, RangesOfLargeProducts) {
  const auto ampere = jit::GpuModel::Of(
      "sm_80+subgroup32+shared166912+invocations1024+processors108");
  const auto hopper = jit::GpuModel::Of(
      "sm_90a+subgroup32+shared232448+invocations1024+processors132+"
      "tensor_maps");
  // 144 tiles of 64 slices are divided among 216 workgroups. A range spans two
  // tiles at most. Each workgroup computes the two pieces of its range one
  // after the other, and the next range begins where this one ends.
  Made made = MakeOn(ampere, Product("1152", "2048", "4096"));
  EXPECT_THAT(made.schedule,
              HasSubstr("stream %y k/64 216 i/128 j/128 -> y.parts"));
  EXPECT_THAT(made.nest, HasSubstr("phase tasks < 216 {\n    for piece < 2 {"));
  EXPECT_THAT(made.nest, HasSubstr("for iterations < min(max("));
  // On this device each piece is a task of a persistent kernel: 132 workgroups
  // compute the pieces of 72 tiles in two rounds. A tile has at most three
  // pieces.
  made = MakeOn(hopper, Product("1152", "2048", "4096"));
  EXPECT_THAT(made.schedule,
              HasSubstr("stream %y k/64 132 i/128 j/256 -> y.parts"));
  EXPECT_THAT(made.schedule, HasSubstr("fuse %y.parts piece range -> tasks_1"));
  EXPECT_THAT(made.schedule, HasSubstr("double_buffer %a.slice async 4 late"));
  EXPECT_THAT(made.nest, HasSubstr("unroll k_part < 3 {"));
  // One matrix accumulator may add up only a limited number of terms. These
  // sums are longer, so there are twice as many ranges, which run in two
  // rounds.
  made = MakeOn(hopper, Product("1152", "2048", "16384"));
  EXPECT_THAT(made.schedule,
              HasSubstr("stream %y k/64 264 i/128 j/256 -> y.parts"));
  // 1024 rows are tiles with whole sums that fill a wave. The remaining rows
  // are cut off and divided into ranges, which run at the same time.
  made = MakeOn(hopper, Product("1280", "4096", "4096"));
  EXPECT_THAT(made.schedule, HasSubstr("cut %y i 1024 -> y.rest"));
  EXPECT_THAT(made.schedule,
              HasSubstr("stream %y.rest k/64 132 i/128 j/256 -> y.rest.parts"));
  // A batch of products whose sizes are no multiples of a tile.
  made = MakeOn(hopper, R"(
    dispatch @batch(%a: f16[4, 300, 16384], %b: f16[4, 500, 16384])
        -> (%y: f32[4, 300, 500]) {
      %y[n, i, j] = sum(k < 16384) f32(%a[n, i, k]) * f32(%b[n, j, k])
    })");
  EXPECT_THAT(made.schedule,
              HasSubstr("stream %y k/64 132 i/128 j/256 -> y.parts"));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.parts"));
  // 162 tiles are 126 and a remainder of 36. Three equal parts of each of these
  // keep only 108 of 132 processors busy, but store less than 132 ranges would.
  made = MakeOn(hopper, Product("2304", "2304", "2304"));
  EXPECT_THAT(made.schedule, HasSubstr("rfactor %y.rest k/768"));
  // The sums of a padded convolution cannot be divided into ranges, so they
  // have parts of equal length.
  made = MakeOn(ampere, R"(
    dispatch @conv(%x: f16[1, 14, 14, 1024], %w: f16[3, 3, 1024, 1024])
        -> (%y: f32[1, 14, 14, 1024]) {
      %y[n, h, v, o] = sum(r < 3, q < 3, c < 1024)
          f32(pad(%x[n, h + r - 1, v + q - 1, c], 0.0)) * f32(%w[r, q, c, o])
    })");
  EXPECT_THAT(made.schedule, HasSubstr("rfactor %y "));
  EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y.parts"));
}

// Long sums are also split on devices without asynchronous copies, and in
// products without matrices.
TEST(GpuMatrices, PartsWithoutAsynchronousCopies) {
  for (const std::string_view target : {kMatrices, kPlain}) {
    const Made made =
        CheckOn(EightProcessors(target), Product("16", "32", "512"));
    EXPECT_THAT(made.schedule, HasSubstr("rfactor %y k/"));
    EXPECT_THAT(made.schedule, HasSubstr("vectorize %y j_lane"));
    EXPECT_EQ(made.schedule.find("multiply_matrices") != std::string::npos,
              target == kMatrices);
  }
}

// If a phase has a cost, a sum of 512 terms is not split, but one of 65536
// terms is.
TEST(GpuMatrices, PartsCostAPhase) {
  jit::GpuModel gpu = EightProcessors(kMatrices);
  const std::string product = Product("16", "32", "512");
  EXPECT_THAT(MakeOn(gpu, product).schedule, HasSubstr("rfactor"));
  gpu.latency_clocks = 800;
  EXPECT_THAT(MakeOn(gpu, product).schedule, Not(HasSubstr("rfactor")));
  EXPECT_THAT(MakeOn(gpu, Product("16", "32", "65536")).schedule,
              HasSubstr("rfactor"));
}

// Products that matrices do not fit get the schedule that they have on a device
// without matrices.
TEST(GpuMatrices, LeaveOthersAsTheyAre) {
  const std::vector<std::string> rows = {
      // Products in which matrices would be mostly empty, because one size is
      // small.
      Product("4", "64", "64"), Product("64", "3", "64"),
      Product("64", "64", "6"),
      // Products whose types have no matrices: factors of f32 and bf16, and f16
      // with sums of f16.
      R"(dispatch @p(%a: f32[64, 64], %b: f32[64, 64]) -> (%y: f32[64, 64]) {
           %y[i, j] = sum(k < 64) %a[i, k] * %b[k, j]
         })",
      R"(dispatch @p(%a: bf16[64, 64], %b: bf16[64, 64]) -> (%y: f32[64, 64]) {
           %y[i, j] = sum(k < 64) f32(%a[i, k]) * f32(%b[k, j])
         })",
      R"(dispatch @p(%a: f16[64, 64], %b: f16[64, 64]) -> (%y: f16[64, 64]) {
           %y[i, j] = sum(k < 64) %a[i, k] * %b[k, j]
         })",
      // Row i of the product reads rows i * 2 and i * 2 + 1 of %x, so the rows
      // of a matrix are two rows of %x apart.
      R"(dispatch @p(%x: f16[66, 64], %w: f16[2, 64, 32]) -> (%y: f32[32, 32]) {
           %y[i, j] = sum(r < 2, k < 64) f32(%x[i * 2 + r, k]) * f32(%w[r, k, j])
         })"};
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    EXPECT_EQ(Make(rows[i]).schedule, Make(rows[i], kPlain).schedule);
  }
  // The last product is an exception: matrices can be loaded from rows that are
  // two rows apart.
  EXPECT_THAT(Check(rows.back()).schedule, HasSubstr("multiply_matrices"));
}

// Checks the layouts that large products get on a device like a GPU: the
// buffers in memory of the workgroup, and the accumulators. These determine how
// many elements a subgroup loads per multiply-add.
TEST(GpuMatrices, FiguresOfLargeProducts) {
  const struct {
    const char* size;
    const char* a;
    const char* b;
    const char* sums;
  } rows[] = {
      // The slices take 27 KiB, with padded rows. A subgroup loads 32 elements
      // per step of the sum, for 256 multiply-adds. Two tasks on a processor
      // use it better than one task with half of the loads.
      {"512", "task %a.slice: f16[2, 32, 72]", "task %b.slice: f16[2, 64, 72]",
       "register %y.part.5: f32[8, 16, 16]"},
      // The slices take 28 KiB. A subgroup loads 64 elements per step of the
      // sum, for 1024 multiply-adds: half as many per multiply-add as in the
      // smaller product.
      {"2048", "task %a.slice: f16[2, 64, 40]",
       "task %b.slice: f16[2, 32, 136]",
       "register %y.part.5: f32[8, 2, 2, 16, 16]"}};
  for (const auto& row : rows) {
    const Made made = Make(Product(row.size, row.size, row.size), kMatrices,
                           int64_t{32} << 10);
    EXPECT_THAT(made.schedule, HasSubstr("multiply_matrices %y"));
    EXPECT_THAT(made.schedule, HasSubstr("double_buffer %a.slice registers"));
    for (const char* has : {row.a, row.b, row.sums})
      EXPECT_THAT(made.nest, HasSubstr(has));
  }
}

}  // namespace
}  // namespace ember::schedule

// Products whose slices a warp of its own copies as boxes of tensors, on an
// emulated sm_90a: that they are right, that the others meet no more than they
// have to, and that workgroups go on to further tasks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/products_testing.h"
#include "tensor/random_values.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BoxProducts : public ::testing::Test {
 protected:
  // Before anything opens the device.
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

// One processor with room for two workgroups of 64 x 64 results.
constexpr GridExpectations kOneSmallProcessor = {
    .without = "+shared232448+invocations1024+processors132",
    .instead = "+shared132000+invocations1024+processors1"};

// A warp copies for the others, and goes on to the next of the workgroup's
// tasks while they finish one. Five turns of four slots: tasks begin with
// phases of the slots' barriers that differ. Two boxes for a slice.
TEST_F(BoxProducts, ProducersGoOnToFurtherTasks) {
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  std::string ptx;
  ExpectOnGrid(
      "dispatch @product(%a: f16[64, 320], %b: f16[320, 192]) -> "
      "(%y: f32[64, 192]) { %y[i, j] = sum(k < 320) f32(%a[i, k]) * "
      "f32(%b[k, j]) }",
      &ptx, kOneSmallProcessor);
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d"));
  EXPECT_THAT(ptx, HasSubstr("%nctaid.y"));
  // All meet once, when the barriers are made.
  EXPECT_EQ(CountOf(ptx, "bar.sync"), 1u);
  const hal::cuda::GridStatistics after = hal::cuda::TotalStatistics();
  EXPECT_EQ(after.box_copies - before.box_copies, 3u * 5 * 2);
  EXPECT_EQ(after.async_copies, before.async_copies);
}

// Results that others finish go through memory of the workgroup that slices
// were in, before: there is no next task.
TEST_F(BoxProducts, ProducersOfResultsThatOthersFinish) {
  std::string ptx;
  GridExpectations expectations = kOneSmallProcessor;
  expectations.within = 1e-2;
  ExpectOnGrid(
      "dispatch @product(%a: f16[60, 320], %b: f16[320, 192], %c: f32[192]) -> "
      "(%y: f16[60, 192]) { temp %s: f32[60, 192] %s[i, j] = sum(k < 320) "
      "f32(%a[i, k]) * f32(%b[k, j]) %y[i, j] = f16(max(%s[i, j] + %c[j], 0.0))"
      " }",
      &ptx, expectations);
  EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor.2d"));
  EXPECT_GE(CountOf(ptx, "bar.sync"), 2u);
}

// Rows are pixels on lines of an image, with zeros around it.
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

// A product, or a convolution, of sizes that may or may not fill boxes, of many
// turns or few.
std::string RandomProduct(tensor::RandomChoices& choices) {
  const auto pick = [&](const std::vector<int>& sizes) {
    return std::to_string(choices.Pick(sizes));
  };
  const std::string type = choices.Chance(3)   ? "i8"
                           : choices.Chance(2) ? "f16"
                                               : "bf16";
  const std::string sum = type == "i8" ? "i32" : "f32";
  const bool is_finished = choices.Chance(3);
  const std::string zero = type == "i8" ? "0" : "0.0";
  std::string arguments, dims, product, indices;
  if (choices.Chance(4)) {
    const std::string h = pick({1, 2, 3}), w = pick({14, 16, 32, 60, 64}),
                      c = pick({64, 128}), o = pick({64, 72});
    arguments = "(%a: " + type + "[1, " + h + ", " + w + ", " + c +
                "], %b: " + type + "[3, 3, " + c + ", " + o + "]";
    dims = "[1, " + h + ", " + w + ", " + o + "]";
    indices = "[n, h, w, o]";
    product = "sum(dh < 3, dw < 3, c < " + c + ") " + sum +
              "(pad(%a[n, h + dh - 1, w + dw - 1, c], " + zero + ")) * " + sum +
              "(%b[dh, dw, c, o])";
  } else {
    const std::string l = pick({1, 1, 2}), m = pick({16, 60, 64, 100, 128}),
                      n = pick({64, 72, 128, 192}),
                      k = pick({64, 200, 256, 320, 512});
    const bool by_rows = choices.Chance(2), b_by_rows = choices.Chance(2);
    arguments = "(%a: " + type + "[" + l + ", " +
                (by_rows ? m + ", " + k : k + ", " + m) + "], %b: " + type +
                "[" + l + ", " + (b_by_rows ? k + ", " + n : n + ", " + k) +
                "]";
    dims = "[" + l + ", " + m + ", " + n + "]";
    indices = "[l, i, j]";
    product = "sum(k < " + k + ") " + sum + "(%a[" +
              (by_rows ? "l, i, k" : "l, k, i") + "]) * " + sum + "(%b[" +
              (b_by_rows ? "l, k, j" : "l, j, k") + "])";
  }
  std::string text = "dispatch @any" + arguments +
                     ") -> (%y: " + (is_finished ? type : sum) + dims + ") {";
  if (!is_finished) return text + " %y" + indices + " = " + product + " }";
  return text + " temp %s: " + sum + dims + " %s" + indices + " = " + product +
         " %y" + indices + " = " + type + "(max(%s" + indices + ", " + zero +
         ")) }";
}

TEST_F(BoxProducts, AtRandom) {
  const tensor::SeedRange seeds = tensor::Seeds(2);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    tensor::RandomChoices choices(seed);
    const std::string text = RandomProduct(choices);
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
    GridExpectations expectations;
    if (choices.Chance(2)) expectations = kOneSmallProcessor;
    expectations.within = 1e-2;
    expectations.has_matrices = false;
    const uint64_t before = hal::cuda::TotalStatistics().box_copies;
    ExpectOnGrid(text, nullptr, expectations);
    if (seeds.end - seeds.begin > 2) {
      std::printf("%s %llu boxes\n", text.c_str(),
                  static_cast<unsigned long long>(
                      hal::cuda::TotalStatistics().box_copies - before));
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ember::jit::ptx

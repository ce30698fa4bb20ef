// Tests wide products, the matrix products of warpgroups (wgmma), on an
// emulated sm_90a: default schedules choose them, and results are right for
// every layout of the factors.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "jit/ptx/testing/products.h"
#include "jit/target/gpu_model.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WideProducts : public ::testing::Test {
 protected:
  // Chooses the emulated architecture, before any test opens the device.
  static void SetUpTestSuite() {
    setenv("EMBER_CUDA_EMULATE", "sm_90a", /*replace=*/1);
  }
  void SetUp() override {
    if (!TestDevice()->target().starts_with("sm_90a"))
      GTEST_SKIP() << "a device without wgmma: " << TestDevice()->target();
  }
  // Runs the dispatch, expects that it uses wgmma and no other matrix
  // instructions, and returns the number of wgmma instructions that were
  // executed.
  static std::optional<uint64_t> ExpectWide(
      std::string_view text, const GridExpectations& expectations = {}) {
    std::string ptx;
    const std::optional<uint64_t> products =
        ExpectOnGrid(text, &ptx, expectations);
    EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
    EXPECT_THAT(ptx, HasSubstr("fence.proxy.async"));
    EXPECT_THAT(ptx, Not(HasSubstr("mma.sync")));
    return products;
  }
};

// Shows that a sequence of products on the same sums has only two fences
// (wgmma.fence): one before the first product, and one before the wait.
TEST_F(WideProducts, FenceOnce) {
  std::string ptx;
  ExpectOnGrid(
      "dispatch @product(%a: f16[128, 256], %b: f16[256, 128]) -> "
      "(%y: f32[128, 128]) { %y[i, j] = sum(k < 256) "
      "f32(%a[i, k]) * f32(%b[k, j]) }",
      &ptx);
  EXPECT_EQ(CountIn(ptx, "wgmma.mma_async"), 4u);
  EXPECT_EQ(CountIn(ptx, "wgmma.fence"), 2u);
}

// Shows products whose factor %b is contiguous along its columns, and along the
// depth of the sum.
TEST_F(WideProducts, BothLayouts) {
  for (const char* type : {"f16", "bf16"}) {
    const std::string t(type);
    const std::string a = "(%a: " + t + "[128, 128], %b: " + t;
    const std::optional<uint64_t> products = ExpectWide(
        "dispatch @product" + a +
        "[128, 256]) -> (%y: f32[128, 256]) { %y[i, j] = sum(k < 128) "
        "f32(%a[i, k]) * f32(%b[k, j]) }");
    // The number of instructions depends on the tile that is chosen: one
    // instruction multiplies at most 64 x 256 x 16 and at least 64 x 64 x 16.
    EXPECT_GE(products.value_or(32), 16u);
    EXPECT_LE(products.value_or(32), 64u);
    ExpectWide("dispatch @product" + a +
               "[256, 128]) -> (%y: f32[128, 256]) { %y[i, j] = sum(k < 128) "
               "f32(%a[i, k]) * f32(%b[j, k]) }");
  }
}

// wgmma multiplies bytes only if b is contiguous along the sum: inputs with
// this layout, and constants, which are packed so. Other factors use mma.sync.
TEST_F(WideProducts, Bytes) {
  for (const char* a : {"i8", "u8"}) {
    for (const char* b : {"i8", "u8"}) {
      const std::string factors = "dispatch @product(%a: " + std::string(a) +
                                  "[64, 128], %b: " + std::string(b);
      const std::optional<uint64_t> products = ExpectWide(
          factors +
          "[128, 128]) -> (%y: i32[64, 128]) { %y[i, j] = sum(k < 128) "
          "i32(%a[i, k]) * i32(%b[j, k]) }");
      // The number of instructions depends on the tile that is chosen: one
      // instruction multiplies at most 64 x 128 x 32 and at least 64 x 64 x 32.
      EXPECT_GE(products.value_or(4), 4u);
      EXPECT_LE(products.value_or(4), 8u);
      const std::string by_rows =
          factors +
          "[128, 64]) -> (%y: i32[64, 64]) { %y[i, j] = sum(k < 128) "
          "i32(%a[i, k]) * i32(%b[k, j]) }";
      ExpectWide(by_rows, {.constant = "b"});
      std::string ptx;
      ExpectOnGrid(by_rows, &ptx);
      EXPECT_THAT(ptx, HasSubstr("mma.sync"));
      EXPECT_THAT(ptx, Not(HasSubstr("wgmma")));
    }
  }
}

// Shows that 8-bit floats are handled like integer bytes: b must be contiguous
// along the sum.
TEST_F(WideProducts, FloatsOf8Bits) {
  for (const char* a : {"f8e4m3fn", "f8e5m2"}) {
    for (const char* b : {"f8e4m3fn", "f8e5m2"}) {
      const std::optional<uint64_t> products = ExpectWide(
          "dispatch @product(%a: " + std::string(a) + "[64, 128], %b: " + b +
          "[128, 128]) -> (%y: f32[64, 128]) { %y[i, j] = sum(k < 128) "
          "f32(%a[i, k]) * f32(%b[j, k]) }");
      EXPECT_GE(products.value_or(4), 4u);
      EXPECT_LE(products.value_or(4), 8u);
    }
  }
  constexpr std::string_view kByRows = R"(
    dispatch @product(%a: f8e4m3fn[64, 128], %b: f8e5m2[128, 64])
        -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) f32(%a[i, k]) * f32(%b[k, j])
    })";
  ExpectWide(kByRows, {.constant = "b"});
  std::string ptx;
  ExpectOnGrid(kByRows, &ptx);
  EXPECT_THAT(ptx, HasSubstr("mma.sync"));
  EXPECT_THAT(ptx, Not(HasSubstr("wgmma")));
}

TEST_F(WideProducts, ConvolutionsOfBytes) {
  ExpectWide(R"(
    dispatch @conv(%x: u8[1, 1, 64, 128], %w: i8[1, 2, 128, 64], %c: f32[64])
        -> (%y: u8[1, 1, 64, 64]) {
      temp %s: i32[1, 1, 64, 64]
      %s[n, h, w, o] = sum(dh < 1, dw < 2, c < 128)
          i32(pad(%x[n, h + dh, w + dw, c], 0)) * i32(%w[dh, dw, c, o])
      %y[n, h, w, o] = u8(max(f32(%s[n, h, w, o]) * 0.001 + %c[o], 0.0))
    })",
             {.constant = "w"});
}

// Shows that wide products of f32 are used only if the target has +tf32 and, as
// for bytes, b is contiguous along the sum or a constant.
TEST_F(WideProducts, Tf32) {
  constexpr std::string_view kByColumns = R"(
    dispatch @product(%a: f32[64, 128], %b: f32[64, 128]) -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) %a[i, k] * %b[j, k]
    })";
  constexpr std::string_view kByRows = R"(
    dispatch @product(%a: f32[64, 128], %b: f32[128, 64]) -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) %a[i, k] * %b[k, j]
    })";
  std::string ptx;
  ExpectTf32OnGrid(kByColumns, &ptx);
  EXPECT_THAT(ptx, HasSubstr("k8.f32.tf32.tf32"));
  EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
  ExpectWide(kByColumns, {.features = "+tf32"});
  ExpectTf32OnGrid(kByRows, &ptx, {.constant = "b"});
  EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
  ExpectTf32OnGrid(kByRows, &ptx);
  EXPECT_THAT(ptx, HasSubstr("mma.sync"));
  constexpr std::string_view kWithout = "sm_90a+subgroup32+shared65536";
  const auto without = NestByDefault(kByColumns, SmallGpu(kWithout));
  ASSERT_TRUE(without.has_value());
  EXPECT_THAT(PtxOf(*without, kWithout), Not(HasSubstr("mma")));
}

// The first dispatch has a stage that finishes the sums (an epilogue). The
// sizes of the second are no multiples of the tiles.
TEST_F(WideProducts, EpiloguesAndRaggedEdges) {
  ExpectWide(R"(
    dispatch @dense(%a: f16[128, 96], %b: f16[96, 256], %bias: f32[256])
        -> (%y: f16[128, 256]) {
      temp %sum: f32[128, 256]
      %sum[i, j] = sum(k < 96) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = f16(max(%sum[i, j] + %bias[j], 0.0))
    })");
  ExpectWide(R"(
    dispatch @ragged(%a: f16[120, 104], %b: f16[104, 248])
        -> (%y: f32[120, 248]) {
      %y[i, j] = sum(k < 104) f32(%a[i, k]) * f32(%b[k, j])
    })");
}

TEST_F(WideProducts, ConvolutionsAndBatches) {
  ExpectWide(R"(
    dispatch @conv(%x: f16[1, 2, 64, 64], %w: f16[3, 3, 64, 64])
        -> (%y: f32[1, 2, 64, 64]) {
      %y[n, h, w, o] = sum(dh < 3, dw < 3, c < 64)
          f32(pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0)) * f32(%w[dh, dw, c, o])
    })");
  ExpectWide(R"(
    dispatch @scores(%q: f16[2, 128, 64], %k: f16[2, 128, 64])
        -> (%y: f32[2, 128, 128]) {
      %y[b, i, j] = sum(d < 64) f32(%q[b, i, d]) * f32(%k[b, j, d])
    })");
}

// Shows that products of one iteration stay in flight during the next one, with
// both factors in shared memory in any layout, copied by boxes or by all
// threads. The emulated grid would report a store to memory that products in
// flight still read.
TEST_F(WideProducts, GoOnInTheNextIteration) {
  for (const char* a : {"%a: f16[64, 256]", "%a: f16[256, 64]"}) {
    const bool has_rows = std::string_view(a).ends_with("256]");
    for (const char* b : {"%b: f16[256, 64]", "%b: f16[64, 256]"}) {
      const bool has_columns = std::string_view(b).ends_with("256]");
      const std::string text =
          "dispatch @product(" + std::string(a) + ", " + b +
          ") -> (%y: f32[64, 64]) { %y[i, j] = sum(k < 256) f32(%a[" +
          (has_rows ? "i, k" : "k, i") + "]) * f32(%b[" +
          (has_columns ? "j, k" : "k, j") + "]) }";
      for (const char* without : {"", "+tensor_maps"}) {
        const bool has_boxes = *without == 0;
        std::string ptx;
        ExpectOnGrid(text, &ptx, {.without = without});
        EXPECT_THAT(ptx, HasSubstr("wgmma.wait_group.sync.aligned 1;"));
        EXPECT_THAT(ptx, Not(HasSubstr("ldmatrix")));
        EXPECT_THAT(ptx, HasSubstr(has_boxes ? "cp.async.bulk.tensor.2d"
                                             : "cp.async.cg.shared"));
        EXPECT_THAT(
            ptx, Not(HasSubstr(has_boxes ? "cp.async.cg" : "cp.async.bulk")));
      }
    }
  }
}

// Returns a random product of 16-bit floats, bytes or f32: with few or many
// rows, a batch dim in any position, any layout of the factors, and results
// that are stored as sums or finished by another stage.
std::string RandomProduct(tensor::RandomChoices& choices) {
  const auto pick = [&](const std::vector<int>& sizes) {
    return std::to_string(choices.Pick(sizes));
  };
  const std::string rows = pick({1, 7, 14, 32, 49, 64, 100, 128, 200, 1024});
  const std::string columns = pick({8, 50, 64, 96, 128, 200, 256, 1000, 2304});
  const std::string depth = pick({16, 64, 72, 100, 128, 192, 256, 768});
  const std::string heads = pick({1, 2, 12});
  const bool has_bytes = choices.Chance(3);
  const bool has_words = !has_bytes && choices.Chance(3);
  const auto type = [&]() -> std::string {
    if (has_words) return "f32";
    if (has_bytes) return choices.Chance(2) ? "i8" : "u8";
    return choices.Chance(2) ? "f16" : "bf16";
  };
  const std::string type_a = type(), type_b = has_bytes ? type() : type_a;
  const std::string sum_type = has_bytes ? "i32" : "f32";
  std::string a = "[h, i, k]", a_dims = heads + ", " + rows + ", " + depth;
  if (choices.Chance(2)) {
    a = "[i, h, k]";
    a_dims = rows + ", " + heads + ", " + depth;
  }
  std::string b = "[k, j]", b_dims = depth + ", " + columns;
  switch (choices.Below(4)) {
    case 0:
      b = "[j, k]";
      b_dims = columns + ", " + depth;
      break;
    case 1:
      b = "[k, h, j]";
      b_dims = depth + ", " + heads + ", " + columns;
      break;
    case 2:
      b = "[j, h, k]";
      b_dims = columns + ", " + heads + ", " + depth;
      break;
    default:
      break;
  }
  const std::string dims = "[" + heads + ", " + rows + ", " + columns + "]";
  const bool is_finished = choices.Chance(2);
  std::string text = "dispatch @product(%a: " + type_a + "[" + a_dims +
                     "], %b: " + type_b + "[" + b_dims +
                     "]) -> (%y: " + (is_finished ? type_a : sum_type) + dims +
                     ") {";
  if (is_finished) text += " temp %s: " + sum_type + dims;
  const std::string cast = has_words ? "" : sum_type;
  const std::string sum = "sum(k < " + depth + ") " + cast + "(%a" + a +
                          ") * " + cast + "(%b" + b + ")";
  text += is_finished
              ? " %s[h, i, j] = " + sum + " %y[h, i, j] = " + type_a +
                    "(max(%s[h, i, j], " + (has_bytes ? "0" : "0.0") + "))"
              : " %y[h, i, j] = " + sum;
  return text + " }";
}

// Shows that the back end compiles the default schedule of every random
// product.
TEST_F(WideProducts, NoneIsDeclined) {
  const std::string without(
      "sm_90a+subgroup32+shared232448+invocations1024+processors132+tf32");
  int64_t wide = 0, count = 0;
  const SeedRange seeds = TestSeeds(100, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    tensor::RandomChoices choices(seed);
    const std::string text = RandomProduct(choices);
    const std::string target =
        without + (choices.Chance(2) ? "+tensor_maps" : "");
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed) + ": " + text);
    const auto nest =
        NestByDefault(text, GpuModel::Of(target), choices.Chance(2) ? "b" : "");
    ASSERT_TRUE(nest.has_value());
    wide += PtxOf(*nest, target).find("wgmma") != std::string::npos;
    ++count;
  }
  // Some of the products must use wgmma. If a single seed is replayed, its
  // product need not.
  EXPECT_TRUE(wide > 0 || count == 1) << count << " products, none wide";
}

}  // namespace
}  // namespace ember::jit::ptx

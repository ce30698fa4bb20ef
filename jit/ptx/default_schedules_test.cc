// Tests the default schedules of CUDA's devices for matrix products on tensor
// cores. Results on the emulated grid must equal those of the evaluator of
// nests, without bank conflicts, and ptxas must accept the code.
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/products.h"
#include "jit/schedule/core/computation.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;

TEST(PtxDefaultSchedules, ProductsOfEachType) {
  constexpr uint64_t kOfF16 = 64u * 64 * 96 / (16 * 8 * 16);
  constexpr uint64_t kOfI8 = 64u * 64 * 96 / (16 * 8 * 32);
  for (const char* type : {"f16", "bf16"}) {
    const std::string t(type);
    const std::optional<uint64_t> products =
        ExpectOnGrid("dispatch @product(%a: " + t + "[64, 96], %b: " + t +
                     "[96, 64]) -> (%y: f32[64, 64]) { %y[i, j] = sum(k < 96) "
                     "f32(%a[i, k]) * f32(%b[k, j]) }");
    EXPECT_EQ(products.value_or(kOfF16), kOfF16);
  }
  for (const char* a : {"i8", "u8"}) {
    for (const char* b : {"i8", "u8"}) {
      const std::optional<uint64_t> products = ExpectOnGrid(
          "dispatch @product(%a: " + std::string(a) + "[64, 96], %b: " + b +
          "[64, 96]) -> (%y: i32[64, 64]) { %y[i, j] = sum(k < 96) "
          "i32(%a[i, k]) * i32(%b[j, k]) }");
      EXPECT_EQ(products.value_or(kOfI8), kOfI8);
    }
  }
}

// Tests a product whose sums are finished by a further stage, and sizes that
// are no multiples of the tiles.
TEST(PtxDefaultSchedules, EpiloguesAndRaggedEdges) {
  ExpectOnGrid(R"(
    dispatch @dense(%a: f16[40, 64], %b: f16[64, 72], %bias: f32[72])
        -> (%y: f16[40, 72]) {
      temp %sum: f32[40, 72]
      %sum[i, j] = sum(k < 64) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = f16(max(%sum[i, j] + %bias[j], 0.0))
    })");
  ExpectOnGrid(R"(
    dispatch @ragged(%a: f16[33, 70], %b: f16[70, 45]) -> (%y: f32[33, 45]) {
      %y[i, j] = sum(k < 70) f32(%a[i, k]) * f32(%b[k, j])
    })");
}

TEST(PtxDefaultSchedules, Convolutions) {
  ExpectOnGrid(R"(
    dispatch @conv(%x: f16[1, 10, 16, 32], %w: f16[3, 3, 32, 32])
        -> (%y: f32[1, 10, 16, 32]) {
      %y[n, h, w, o] = sum(dh < 3, dw < 3, c < 32)
          f32(pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0)) * f32(%w[dh, dw, c, o])
    })");
}

TEST(PtxDefaultSchedules, BatchesOfProducts) {
  ExpectOnGrid(R"(
    dispatch @scores(%q: f16[3, 32, 64], %k: f16[3, 32, 64])
        -> (%y: f32[3, 32, 32]) {
      %y[b, i, j] = sum(d < 64) f32(%q[b, i, d]) * f32(%k[b, j, d])
    })");
}

// Shows that products of f32 use matrix instructions only if the target has
// +tf32, for each layout of the factors.
TEST(PtxDefaultSchedules, Tf32) {
  constexpr struct {
    const char* inputs;
    const char* product;
  } kLayouts[] = {{"%a: f32[40, 52], %b: f32[52, 24]", "%a[i, k] * %b[k, j]"},
                  {"%a: f32[40, 52], %b: f32[24, 52]", "%a[i, k] * %b[j, k]"},
                  {"%a: f32[52, 40], %b: f32[24, 52]", "%a[k, i] * %b[j, k]"}};
  for (const auto& layout : kLayouts) {
    const std::string text =
        Concat({"dispatch @product(", layout.inputs,
                ") -> (%y: f32[40, 24]) { %y[i, j] = sum(k < 52) ",
                layout.product, " }"});
    std::string ptx;
    ExpectTf32OnGrid(text, &ptx);
    EXPECT_THAT(ptx, HasSubstr(".f32.tf32.tf32.f32"));
    EXPECT_GT(ExpectOnGrid(text, &ptx, {.features = "+tf32"}).value_or(1), 0u);
    EXPECT_THAT(ptx, HasSubstr(".f32.tf32.tf32.f32"));
    constexpr std::string_view kWithout = "sm_80+subgroup32+shared65536";
    const auto without = NestByDefault(text, SmallGpu(kWithout));
    ASSERT_TRUE(without.has_value());
    EXPECT_THAT(PtxOf(*without, kWithout), ::testing::Not(HasSubstr("mma.")));
  }
}

// Shows that products of bytes with few rows use dp4a, because matrices would
// be mostly empty.
TEST(PtxDefaultSchedules, DotsOfBytes) {
  for (const char* a : {"i8", "u8"}) {
    for (const char* b : {"i8", "u8"}) {
      // `steps`: length of the sum, a multiple of four or not. `by_rows`: false
      // if %b is contiguous along the sum.
      for (const char* steps : {"96", "70"}) {
        for (const bool by_rows : {false, true}) {
          const std::string text =
              Concat({"dispatch @product(%a: ", a, "[4, ", steps, "], %b: ", b,
                      by_rows ? Concat({"[", steps, ", 512]"})
                              : Concat({"[512, ", steps, "]"}),
                      ") -> (%y: i32[4, 512]) { %y[i, j] = sum(k < ", steps,
                      ") i32(%a[i, k]) * i32(",
                      by_rows ? "%b[k, j]" : "%b[j, k]", ") }"});
          std::string ptx;
          ExpectOnGrid(text, &ptx,
                       {.has_matrices = false, .constant = by_rows ? "b" : ""});
          EXPECT_THAT(ptx, HasSubstr("dp4a."));
          EXPECT_THAT(ptx, ::testing::Not(HasSubstr("mma.sync")));
        }
      }
    }
  }
  // Tests the first layer of a convolutional network: its input has three
  // channels, so four bytes of a sum are not contiguous.
  std::string ptx;
  ExpectOnGrid(R"(
    dispatch @conv(%x: u8[1, 10, 18, 3], %w: i8[3, 3, 3, 32])
        -> (%y: i32[1, 8, 16, 32]) {
      %y[n, h, w, o] = sum(dh < 3, dw < 3, c < 3)
          i32(%x[n, h + dh, w + dw, c]) * i32(%w[dh, dw, c, o])
    })",
               &ptx, {.has_matrices = false, .constant = "w"});
  EXPECT_THAT(ptx, ::testing::AnyOf(HasSubstr("dp4a.u32.s32"),
                                    HasSubstr("dp4a.s32.u32")));
}

// Shows for each architecture with matrix instructions that LLVM can select the
// kernel's instructions (otherwise it ends the process) and that ptxas knows
// them.
TEST(PtxDefaultSchedules, Architectures) {
  constexpr std::string_view kProduct =
      "dispatch @product(%a: f16[64, 96], %b: f16[96, 64]) -> (%y: f32[64, 64])"
      " { %y[i, j] = sum(k < 96) f32(%a[i, k]) * f32(%b[k, j]) }";
  constexpr std::string_view kBytes =
      "dispatch @product(%a: i8[64, 96], %b: i8[64, 96]) -> (%y: i32[64, 64])"
      " { %y[i, j] = sum(k < 96) i32(%a[i, k]) * i32(%b[j, k]) }";
  for (const char* name :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"}) {
    SCOPED_TRACE(name);
    const std::string target = std::string(name) + "+subgroup32+shared65536";
    const auto nest = NestByDefault(kProduct, SmallGpu(target));
    ASSERT_TRUE(nest.has_value());
    const std::string ptx = PtxOf(*nest, target);
    const bool is_wide = std::string_view(name) == "sm_90a";
    // jit/target/matrix_instructions.h has products of bytes from architecture
    // 8.0 on; sm_75 uses dp4a instead.
    const bool has_byte_matrices = std::string_view(name) != "sm_75";
    EXPECT_THAT(ptx, HasSubstr(is_wide ? "wgmma.mma_async" : "mma.sync"));
    if (HasAssembler()) {
      EXPECT_EQ(Assemble(ptx, name), "");
    }
    const auto of_bytes = NestByDefault(kBytes, SmallGpu(target));
    ASSERT_TRUE(of_bytes.has_value());
    const std::string bytes = PtxOf(*of_bytes, target);
    EXPECT_THAT(bytes, HasSubstr(has_byte_matrices ? "mma" : "dp4a.s32.s32"));
    if (HasAssembler()) {
      EXPECT_EQ(Assemble(bytes, name), "");
    }
  }
}

}  // namespace
}  // namespace ember::jit::ptx

// What the default schedules of CUDA's devices make of products that tensor
// cores multiply: on the emulated grid beside the evaluator of nests, without
// conflicts of banks, and through ptxas without spills.
#include <optional>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/text.h"
#include "jit/ptx/assembler_testing.h"
#include "jit/ptx/products_testing.h"
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

// Results that invocations finish, and edges that tiles do not fill.
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

// Scores and weights stay in memory of the workgroup.
std::string Attention(int heads, int rows, int keys, int depth,
                      const std::string& score) {
  const std::string h = std::to_string(heads), n = std::to_string(rows),
                    m = std::to_string(keys), d = std::to_string(depth);
  const std::string q = "[" + h + ", " + n + ", " + d + "]",
                    kv = "[" + h + ", " + m + ", " + d + "]",
                    all = "[" + h + ", " + n + ", " + m + "]",
                    row = "[" + h + ", " + n + "]";
  return "dispatch @attention(%q: f16" + q + ", %k: f16" + kv + ", %v: f16" +
         kv + ") -> (%y: f16" + q + ") {\n  temp %raw: f32" + all +
         "\n  temp %score: f32" + all + "\n  temp %top: f32" + row +
         "\n  temp %power: f32" + all + "\n  temp %total: f32" + row +
         "\n  temp %weight: f16" + all + "\n  temp %sum: f32" + q +
         "\n  %raw[b, i, j] = sum(d < " + d +
         ") f32(%q[b, i, d]) * f32(%k[b, j, d])\n  %score[b, i, j] = " + score +
         "\n  %top[b, i] = maximum(j < " + m +
         ") %score[b, i, j]\n  %power[b, i, j] = exp(%score[b, i, j] - "
         "%top[b, i])\n  %total[b, i] = sum(j < " +
         m +
         ") %power[b, i, j]\n  %weight[b, i, j] = f16(%power[b, i, j] / "
         "%total[b, i])\n  %sum[b, i, d] = sum(j < " +
         m +
         ") f32(%weight[b, i, j]) * f32(%v[b, j, d])\n  %y[b, i, d] = "
         "f16(%sum[b, i, d])\n}\n";
}

TEST(PtxDefaultSchedules, AttentionInOnePhase) {
  const std::string scaled = "%raw[b, i, j] * 0.25";
  const std::string causal = "select(j <= i, %raw[b, i, j] * 0.25, -1.0e30)";
  int in_blocks = 0;
  for (const std::string& text :
       {Attention(2, 32, 32, 32, scaled), Attention(1, 64, 128, 64, causal),
        Attention(2, 40, 48, 32, causal), Attention(1, 17, 64, 64, scaled),
        Attention(1, 64, 512, 32, scaled), Attention(1, 33, 384, 64, causal)}) {
    const auto nest = NestByDefault(
        text, SmallGpu("sm_90a+subgroup32+shared232448+invocations1024"));
    ASSERT_TRUE(nest.has_value());
    EXPECT_EQ(nest->phases.size(), 1u) << text;
    in_blocks += loops::ToText(*nest).find("%sum.running") != std::string::npos;
    ExpectOnGrid(text, nullptr, 1e-3);
  }
  EXPECT_GT(in_blocks, 0);
}

// Nobody knows whether rows of open extents have room in a workgroup.
TEST(PtxDefaultSchedules, AttentionOfOpenExtents) {
  std::string text = Attention(2, 32, 77, 32, "%raw[b, i, j] * 0.25");
  for (size_t at = text.find("77"); at != std::string::npos;
       at = text.find("77"))
    text.replace(at, 2, "N");
  text.replace(text.find("@attention"), 10, "@attention<N>");
  const auto nest = NestByDefault(
      text, SmallGpu("sm_90a+subgroup32+shared232448+invocations1024"));
  ASSERT_TRUE(nest.has_value());
  EXPECT_GT(nest->phases.size(), 1u);
}

// The maximum and total that an invocation keeps for each result of a row are
// the same for all of them: their powers are computed once.
TEST(PtxDefaultSchedules, RunningMaximaOfARowAreOne) {
  const std::string target =
      "sm_90a+subgroup32+shared232448+invocations1024+processors132";
  const auto nest =
      NestByDefault(Attention(16, 1024, 1024, 64, "%raw[b, i, j] * 0.125"),
                    GpuModel::Of(target));
  ASSERT_TRUE(nest.has_value());
  EXPECT_THAT(loops::ToText(*nest), HasSubstr("%sum.running"));
  const std::string ptx = PtxOf(*nest, target);
  int arithmetic = 0;
  for (size_t at = ptx.find("fma.rn"); at != std::string::npos;
       at = ptx.find("fma.rn", at + 1)) {
    ++arithmetic;
  }
  // Of three powers; written out for each result they would be hundreds.
  EXPECT_LT(arithmetic, 100);
}

// LLVM selects the instructions of a kernel (where it cannot, the process
// ends), and the assembler knows them, of each architecture that has some.
TEST(PtxDefaultSchedules, Architectures) {
  constexpr std::string_view kProduct =
      "dispatch @product(%a: f16[64, 96], %b: f16[96, 64]) -> (%y: f32[64, 64])"
      " { %y[i, j] = sum(k < 96) f32(%a[i, k]) * f32(%b[k, j]) }";
  for (const char* name :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"}) {
    SCOPED_TRACE(name);
    const std::string target = std::string(name) + "+subgroup32+shared65536";
    const auto nest = NestByDefault(kProduct, SmallGpu(target));
    ASSERT_TRUE(nest.has_value());
    const std::string ptx = PtxOf(*nest, target);
    const bool is_wide = std::string_view(name) == "sm_90a";
    EXPECT_THAT(ptx, HasSubstr(is_wide ? "wgmma.mma_async" : "mma.sync"));
    if (HasAssembler()) {
      EXPECT_EQ(Assemble(ptx, name), "");
    }
  }
}

}  // namespace
}  // namespace ember::jit::ptx

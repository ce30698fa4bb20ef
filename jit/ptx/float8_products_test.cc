// Tests matrix products of 8-bit floats by mma.sync, on an emulated sm_89, the
// first architecture that has them: default schedules choose these
// instructions, results are right, and LLVM and ptxas accept the code.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "jit/ptx/testing/products.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Float8Products : public ::testing::Test {
 protected:
  // Chooses the emulated architecture, before any test opens the device.
  static void SetUpTestSuite() {
    setenv("EMBER_CUDA_EMULATE", "sm_89", /*replace=*/1);
  }
};

TEST_F(Float8Products, OfEachPairOfTypes) {
  constexpr uint64_t kProducts = 64u * 64 * 96 / (16 * 8 * 32);
  constexpr struct {
    const char* type;
    const char* in_ptx;
  } kTypes[] = {{"f8e4m3fn", "e4m3"}, {"f8e5m2", "e5m2"}};
  for (const auto& a : kTypes) {
    for (const auto& b : kTypes) {
      std::string ptx;
      const std::optional<uint64_t> products = ExpectOnGrid(
          Concat({"dispatch @product(%a: ", a.type, "[64, 96], %b: ", b.type,
                  ("[64, 96]) -> (%y: f32[64, 64]) { %y[i, j] = sum(k < 96) "
                   "f32(%a[i, k]) * f32(%b[j, k]) }")}),
          &ptx);
      EXPECT_EQ(products.value_or(kProducts), kProducts);
      EXPECT_THAT(ptx,
                  HasSubstr(Concat({"mma.sync.aligned.m16n8k32.row.col.f32.",
                                    a.in_ptx, ".", b.in_ptx, ".f32"})));
    }
  }
}

// Tests other layouts of the factors, sizes that are no multiples of the tiles,
// and results that are rounded to 8 bits again.
TEST_F(Float8Products, LayoutsEdgesAndEpilogues) {
  ExpectOnGrid(R"(
    dispatch @by_rows(%a: f8e4m3fn[32, 96], %b: f8e4m3fn[96, 40])
        -> (%y: f32[32, 40]) {
      %y[i, j] = sum(k < 96) f32(%a[i, k]) * f32(%b[k, j])
    })");
  ExpectOnGrid(R"(
    dispatch @dense(%a: f8e4m3fn[40, 64], %w: f8e4m3fn[72, 64], %c: f32[72])
        -> (%y: f8e4m3fn[40, 72]) {
      temp %sum: f32[40, 72]
      %sum[i, j] = sum(k < 64) f32(%a[i, k]) * f32(%w[j, k])
      %y[i, j] = f8e4m3fn(max(min(%sum[i, j] * 0.25 + %c[j], 448.0), -448.0))
    })");
  ExpectOnGrid(R"(
    dispatch @ragged(%a: f8e5m2[60, 90], %b: f8e4m3fn[61, 90])
        -> (%y: f32[60, 61]) {
      %y[i, j] = sum(k < 90) f32(%a[i, k]) * f32(%b[j, k])
    })");
}

// Shows that on architectures before sm_89 factors of 8-bit floats are cast to
// f32 and multiplied without matrix instructions for them.
TEST_F(Float8Products, Architectures) {
  constexpr std::string_view kProduct =
      "dispatch @product(%a: f8e4m3fn[64, 128], %b: f8e5m2[64, 128])"
      " -> (%y: f32[64, 64]) { %y[i, j] = sum(k < 128) f32(%a[i, k]) *"
      " f32(%b[j, k]) }";
  for (const char* name : {"sm_80", "sm_89", "sm_90", "sm_90a"}) {
    SCOPED_TRACE(name);
    const std::string_view architecture(name);
    const std::string target = Concat({name, "+subgroup32+shared65536"});
    const auto nest = NestByDefault(kProduct, SmallGpu(target));
    ASSERT_TRUE(nest.has_value());
    const std::string ptx = PtxOf(*nest, target);
    if (architecture == "sm_80") {
      EXPECT_THAT(ptx, Not(HasSubstr("mma")));
    } else {
      EXPECT_THAT(ptx, HasSubstr(architecture == "sm_90a" ? "wgmma.mma_async"
                                                          : "mma.sync"));
      EXPECT_THAT(ptx, HasSubstr(".f32.e4m3.e5m2"));
    }
    if (HasAssembler()) {
      EXPECT_EQ(Assemble(ptx, name), "");
    }
  }
}

}  // namespace
}  // namespace ember::jit::ptx

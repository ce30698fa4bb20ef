// Products of warpgroups (wgmma), on an emulated sm_90a: which the default
// schedules choose, and that they are right, whichever way the factors lie.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/products_testing.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;

class WideProducts : public ::testing::Test {
 protected:
  // Before anything opens the device.
  static void SetUpTestSuite() {
    setenv("EMBER_CUDA_EMULATE", "sm_90a", /*replace=*/1);
  }
  void SetUp() override {
    if (!TestDevice()->target().starts_with("sm_90a"))
      GTEST_SKIP() << "a device without wgmma: " << TestDevice()->target();
  }
  // How many instructions there are, and none of another kind.
  static std::optional<uint64_t> ExpectWide(std::string_view text) {
    std::string ptx;
    const std::optional<uint64_t> products = ExpectOnGrid(text, &ptx);
    EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
    EXPECT_THAT(ptx, HasSubstr("fence.proxy.async"));
    EXPECT_THAT(ptx, ::testing::Not(HasSubstr("mma.sync")));
    return products;
  }
};

// Columns lie together, or depth does.
TEST_F(WideProducts, BothLayouts) {
  for (const char* type : {"f16", "bf16"}) {
    const std::string t(type);
    const std::string a = "(%a: " + t + "[128, 128], %b: " + t;
    const std::optional<uint64_t> products = ExpectWide(
        "dispatch @product" + a +
        "[128, 256]) -> (%y: f32[128, 256]) { %y[i, j] = sum(k < 128) "
        "f32(%a[i, k]) * f32(%b[k, j]) }");
    // At most of 64 x 64 x 16, at least of 64 x 256 x 16.
    EXPECT_GE(products.value_or(32), 16u);
    EXPECT_LE(products.value_or(32), 64u);
    ExpectWide("dispatch @product" + a +
               "[256, 128]) -> (%y: f32[128, 256]) { %y[i, j] = sum(k < 128) "
               "f32(%a[i, k]) * f32(%b[j, k]) }");
  }
}

// Results that invocations finish, and edges that tiles do not fill.
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

}  // namespace
}  // namespace ember::jit::ptx

// Tests the error of e^x of f32 on the emulated grid, or on the GPU that
// EMBER_CUDA_TEST_DEVICE names. The emulated instruction for powers of 2 is
// made inexact by a unit, as the real one may be.
#include "jit/ptx/exponential.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/math/testing/accuracy.h"
#include "jit/math/testing/points.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/device.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;

// Returns e^x for each x as the device computes it. x is padded to a multiple
// of 256, the number of elements of a task of the nest.
std::vector<float> Exponentials(std::vector<float> x, CodeTexts& texts) {
  const size_t count = x.size();
  x.resize((count + 255) / 256 * 256);
  const std::string n = std::to_string(x.size());
  const loops::LoopNest nest = gpu::ParseOrDie(
      "loops @exp(%x: input f32[" + n + "], %y: output f32[" + n +
      "]) { phase t < " + std::to_string(x.size() / 256) +
      " { invocation i < 64 { vector l < 4 { let %j = t * 256 + i * 4 + l "
      "%y[%j] = exp(%x[%j]) } } } }");
  const std::shared_ptr<hal::Device> device = TestDevice();
  auto code = CompileNest(nest, Target::Of(device->target()), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  const size_t bytes = x.size() * sizeof(float);
  gpu::Bytes buffers(2, std::vector<uint8_t>(bytes));
  std::memcpy(buffers[0].data(), x.data(), bytes);
  if (!code.ok()) return {};
  const Status ran = gpu::RunNest(device, nest, *std::move(code), {}, buffers);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  std::vector<float> y(x.size());
  std::memcpy(y.data(), buffers[1].data(), bytes);
  y.resize(count);
  return y;
}

TEST(ExponentialTest, IsAsExactAsItSays) {
  std::mt19937_64 random(TestSeeds(1, 0).begin);
  std::vector<float> x = Points<float>(random, 40);
  // Random x in the range in which exp(x) as f32 is neither zero nor infinite.
  std::uniform_real_distribution<float> of_results(-104.0f, 89.0f);
  for (int i = 0; i < 20000; ++i) x.push_back(of_results(random));
  CodeTexts texts;
  const std::vector<float> y = Exponentials(x, texts);
  ASSERT_EQ(y.size(), x.size());
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = UlpError(y[i], std::exp(double{x[i]}));
    ASSERT_LE(error, 3.0) << "exp(" << x[i] << ") is " << y[i];
    largest = std::max(largest, error);
  }
  // Rounding the exact value to f32 alone gives errors of almost 0.5 ulp. A
  // smaller largest error would mean that the test measured nothing.
  EXPECT_GT(largest, 0.4);
  EXPECT_THAT(texts.ptx, HasSubstr("ex2.approx.ftz.f32"));
}

TEST(ExponentialTest, Limits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CodeTexts texts;
  const std::vector<float> y =
      Exponentials({-kInfinity, kInfinity, std::nanf(""), 0.0f, -0.0f, -1e30f,
                    1e30f, 88.8f, -104.5f, -103.0f, -88.0f},
                   texts);
  ASSERT_EQ(y.size(), 11u);
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], kInfinity);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1.0f);
  EXPECT_EQ(y[4], 1.0f);
  EXPECT_EQ(y[5], 0.0f);
  EXPECT_EQ(y[6], kInfinity);
  EXPECT_EQ(y[7], kInfinity);
  EXPECT_EQ(y[8], 0.0f);
  // For these x, exp(x) is a subnormal number, which must not be flushed to
  // zero.
  EXPECT_EQ(y[9], std::exp(-103.0f));
  EXPECT_EQ(std::fpclassify(y[10]), FP_SUBNORMAL);
}

}  // namespace
}  // namespace ember::jit::ptx

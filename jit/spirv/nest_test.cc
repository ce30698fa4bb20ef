// Tests nests on a device: errors of checks, and an f32 sum whose rounding the
// evaluator of nests does not prescribe. tests/cases has tests of results and
// of the code's resources.
#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/testing/run_nest.h"

namespace ember::jit::spirv {
namespace {

class SpirvNestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  }
};

constexpr char kGather[] = R"(
loops @gather(%x: input f32[5], %i: input i64[40], %y: output f32[40]) {
  phase t < 5 {
    vector l < 8 {
      check %x.0 %i[t * 8 + l] < 5
      %y[t * 8 + l] = %x[%i[t * 8 + l]]
    }
  }
})";

TEST_F(SpirvNestTest, ChecksThatFail) {
  const loops::LoopNest nest = ParseOrDie(kGather);
  Bytes buffers = SmallContents(nest, {});
  auto* const indices = reinterpret_cast<int64_t*>(buffers[1].data());
  for (int i = 0; i < 40; ++i) indices[i] = i % 5;
  const Status fine = RunOnDevice(nest, {}, buffers);
  EXPECT_TRUE(fine.ok()) << fine.ToString();
  for (const int64_t wrong : {int64_t{5}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    indices[17] = wrong;
    EXPECT_EQ(RunOnDevice(nest, {}, buffers).ToString(),
              "INVALID_ARGUMENT: dispatch @gather: buffer %x: expected index 0 "
              "in 0..4, found " +
                  std::to_string(wrong));
  }
}

// Shows that an invocation that fails a check still reaches the next barrier,
// so that no other invocation waits forever.
TEST_F(SpirvNestTest, ChecksBetweenMeetings) {
  constexpr char kText[] = R"(
loops @checked(%x: input f32[5], %i: input i32[4, 8], %y: output f32[4, 8]) {
  task %t: f32[8]
  phase t < 4 {
    invocation l < 8 {
      %t[l] = 0.0
      check %x.0 i64(%i[t, l]) < 5
      %t[l] = %x[i64(%i[t, l])]
    }
    invocation l < 8 { %y[t, l] = %t[7 - l] }
  }
})";
  const loops::LoopNest nest = ParseOrDie(kText);
  Bytes buffers = SmallContents(nest, {});
  auto* const indices = reinterpret_cast<int32_t*>(buffers[1].data());
  for (int i = 0; i < 32; ++i) indices[i] = i % 5;
  EXPECT_TRUE(RunOnDevice(nest, {}, buffers).ok());
  indices[9] = 7;
  EXPECT_EQ(RunOnDevice(nest, {}, buffers).ToString(),
            "INVALID_ARGUMENT: dispatch @checked: buffer %x: expected index 0 "
            "in 0..4, found 7");
}

// Shows that a short sum rounds only once per step. The square of 1 + 2^-12 is
// 1 + 2^-11 + 2^-24; if the product were rounded before it is added to -1, the
// term 2^-24 would be lost.
TEST_F(SpirvNestTest, ShortSumsRoundOnceAStep) {
  const loops::LoopNest nest = ParseOrDie(R"(
loops @product(%a: input f32[4], %b: input f32[4], %y: output f32[4]) {
  phase i < 4 { %y[i] = -1.0 for k < 1 { %y[i] += %a[i] * %b[i] } }
})");
  Bytes buffers(3, std::vector<uint8_t>(16));
  const float factor = 1 + 0x1p-12f;
  for (size_t i = 0; i < 4; ++i) {
    std::memcpy(&buffers[0][i * 4], &factor, 4);
    std::memcpy(&buffers[1][i * 4], &factor, 4);
  }
  ASSERT_TRUE(RunOnDevice(nest, {}, buffers).ok());
  float result = 0;
  std::memcpy(&result, buffers[2].data(), 4);
  EXPECT_EQ(result, 0x1p-11f + 0x1p-24f);
}

// --- The device's limit of loop iterations per invocation. ---

// If extents are open parameters, a call may exceed the device's limit of
// iterations. The code then carries the limit, which is checked when a call is
// recorded.
TEST(SpirvDeclineTest, IterationsOfOpenExtents) {
  const auto limit = [](const char* body) {
    const auto code = Emit(
        ParseOrDie(
            std::string(
                "loops @sum<N>(%x: input f32[N], %y: output f32[9]) { phase "
                "t < 9 { %y[t] = 0.0 ") +
            body + " } }"),
        "vulkan1.3+shared32768+invocations1024+iterations65535");
    return code.ok() ? code->phases[0].iterations : -1;
  };
  EXPECT_EQ(limit("for i < N { %y[t] += %x[i] }"), 65535);
  EXPECT_EQ(limit("for i < min(N, 100) { %y[t] += %x[i] }"), 0);
}

}  // namespace
}  // namespace ember::jit::spirv

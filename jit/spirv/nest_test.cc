// Nests in text on a device: where buffers are, where invocations meet, what
// checks say, how tasks are numbered.
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing.h"
#include "jit/spirv/tools.h"

namespace ember::jit::spirv {
namespace {

using ::testing::HasSubstr;

class SpirvNestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  }
};

// Errors of emission need no device.
std::string EmissionError(const std::string& text, const char* target) {
  const auto code = EmitModule(ParseOrDie(text), Target::Of(target));
  return code.ok() ? "" : code.status().ToString();
}

// The example of docs/devices.md.
constexpr char kProduct[] = R"(
loops @product(%x: input f32[49, 512], %w: input f32[512, 64],
               %y: output f32[49, 64]) {
  task %tile: f32[64]
  register %sum: f32[64]
  phase t < 49 {
    invocation i < 64 { %sum[i] = 0.0 }
    for k0 < 8 {
      invocation i < 64 { %tile[i] = %x[t, k0 * 64 + i] }
      invocation i < 64 {
        for k1 < 64 { %sum[i] += %tile[k1] * %w[k0 * 64 + k1, i] }
      }
    }
    invocation i < 64 { %y[t, i] = %sum[i] }
  }
})";

TEST_F(SpirvNestTest, SharedMemoryAndRegistersOfInvocations) {
  ExpectAsEvaluated(kProduct);
}

TEST(SpirvPlanTest, InvocationsMeetWhereTheyShare) {
  const gpu::PhaseCode code = FirstPhase(kProduct);
  EXPECT_EQ(code.invocations, 64);
  EXPECT_EQ(code.tasks_per_workgroup, 1);
  EXPECT_EQ(code.shared_bytes, 64 * 4);
  EXPECT_EQ(code.register_bytes, 4);
  // Before %tile is written, as the last round may still read it, and behind.
  EXPECT_EQ(code.barriers, 2);
  EXPECT_EQ(code.bindings.size(), 3u);
  EXPECT_FALSE(code.has_slices);
}

// A value of each invocation, combined: in one subgroup and in several, not all
// of which take part; into shared memory, an output, and what was there.
std::string Combining(std::string_view type, std::string_view update,
                      int invocations, int extent) {
  const std::string t(type), u(update);
  const std::string n = std::to_string(invocations), m = std::to_string(extent);
  return "loops @combine(%x: input " + t + "[5, " + n + "], %y: output " + t +
         "[5, 2], %z: output " + t + "[5, " + n + "]) { task %all: " + t +
         "[] phase t < 5 { invocation i < " + n + " { %z[t, i] = %x[t, " + n +
         " - 1 - i] } %all[] = %x[t, 0] invocation i < " + m + " { %all[] " +
         u + " %x[t, i] } %y[t, 0] = %all[] for k < 2 { %y[t, 1] = %all[] " +
         "invocation i < " + n + " { %y[t, 1] " + u + " %z[t, i] } } " +
         "invocation i < " + n + " { %z[t, i] = %all[] } } }";
}

TEST_F(SpirvNestTest, InvocationsCombineValues) {
  for (const std::string_view type :
       {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u32", "i64"}) {
    for (const std::string_view update : {"+=", "min=", "max="}) {
      ExpectAsEvaluated(Combining(type, update, 5, 5));
      ExpectAsEvaluated(Combining(type, update, 40, 39));
    }
  }
  ExpectAsEvaluated(Combining("bool", "max=", 64, 9));
  ExpectAsEvaluated(Combining("i32", "*=", 33, 33));
}

TEST(SpirvPlanTest, CombinedValuesMeetOnce) {
  const std::string text = R"(
loops @sum(%x: input f32[9, 64], %y: output f32[9]) {
  phase t < 9 {
    %y[t] = 0.0
    invocation i < 64 { %y[t] += %x[t, i] }
  }
})";
  const std::string target(kSmallTarget);
  // By halves: 32, 16, ... 1.
  EXPECT_EQ(FirstPhase(text).barriers, 6);
  EXPECT_EQ(FirstPhase(text).shared_bytes, 64 * 4);
  const auto with = [&](const char* features) {
    return FirstPhase(text, (target + features).c_str());
  };
  EXPECT_EQ(with("+subgroup_arithmetic+subgroup16").barriers, 1);
  EXPECT_EQ(with("+subgroup_arithmetic+subgroup16").shared_bytes, 4 * 4);
  EXPECT_EQ(with("+subgroup_arithmetic+subgroup64").barriers, 0);
  EXPECT_EQ(with("+subgroup_arithmetic+subgroup64").shared_bytes, 0);
}

TEST(SpirvPlanTest, NoMeetingWhereNothingIsShared) {
  const gpu::PhaseCode code = FirstPhase(R"(
loops @apart(%x: input f32[9, 64], %y: output f32[9, 64]) {
  register %r: f32[64, 2]
  phase t < 9 {
    invocation i < 64 { %r[i, 0] = %x[t, i] }
    for k < 4 { invocation i < 64 { %r[i, 1] = %r[i, 0] + %x[t, i] } }
    invocation i < 64 { %y[t, i] = %r[i, 1] }
  }
})");
  // %y may be the memory of %x, which is why it is waited for.
  EXPECT_EQ(code.barriers, 1);
}

TEST_F(SpirvNestTest, FewerInvocationsThanTheWorkgroupHas) {
  ExpectAsEvaluated(R"(
loops @guarded(%x: input i32[7, 40], %y: output i32[7]) {
  task %part: i32[8]
  phase t < 7 {
    invocation i < 8 {
      %part[i] = 0
      for k < 5 { %part[i] += %x[t, k * 8 + i] }
    }
    invocation i < 4 { %part[i] += %part[i + 4] }
    invocation i < 2 { %part[i] += %part[i + 2] }
    %y[t] = %part[0] + %part[1]
  }
})");
}

// What stands between invocation loops is done once.
TEST_F(SpirvNestTest, UniformStatements) {
  ExpectAsEvaluated(R"(
loops @uniform(%x: input i32[5, 16], %y: output i32[5, 16], %z: output i32[5]) {
  task %total: i32[]
  register %step: i32[2]
  phase t < 5 {
    %total[] = 0
    %step[0] = i32(t)
    for k < 16 {
      if %x[t, k] != 0 {
        %total[] += %x[t, k] + %step[0]
        %step[0] += 1
      }
    }
    invocation i < 16 { %y[t, i] = %total[] * %x[t, i] }
    %z[t] = %total[] + %step[0]
  }
})");
}

TEST_F(SpirvNestTest, LanesAreTogether) {
  ExpectAsEvaluated(R"(
loops @lanes(%x: input f32[12, 8], %n: input i32[12, 8], %y: output f32[12, 8], %s: output f32[12]) {
  phase t < 12 {
    vector l < 8 { %y[t, l] = %x[t, l] }
    vector l < 8 { %y[t, l] = %y[t, 7 - l] }
    %s[t] = 0.0
    vector l < 8 {
      if %n[t, l] < 2 {
        %s[t] += %x[t, l]
        %y[t, l] = pad(%x[t, l + 3], 5.0) * 2.0
      }
    }
  }
})");
}

TEST_F(SpirvNestTest, OpenParameters) {
  constexpr char kText[] = R"(
loops @open<N, M>(%x: input f32[N, M], %y: output f32[M, N], %s: output f32[N]) {
  phase i < N { for j < M { %y[j, i] = %x[i, j] } }
  phase t < floordiv(N + 3, 4) {
    for i0 < 4 {
      if t * 4 + i0 < N {
        %s[t * 4 + i0] = 0.0
        for k < M { %s[t * 4 + i0] += %x[t * 4 + i0, k] }
      }
    }
  }
})";
  ExpectAsEvaluated(kText, {13, 7});
  ExpectAsEvaluated(kText, {1, 1});
  ExpectAsEvaluated(kText, {64, 3});
  ExpectAsEvaluated(kText, {5, 0});
  ExpectAsEvaluated(kText, {0, 4});
}

// Where the device has 64-bit integers or not: 32 bits are enough.
TEST(SpirvPlanTest, IndicesNeedNoLongIntegers) {
  FirstPhase(R"(
loops @narrow<N>(%x: input f32[N, 3, 64], %y: output f32[64, N]) {
  phase t < floordiv(N + 7, 8) * 64 {
    for i < 8 {
      if and(mod(t, floordiv(N + 7, 8)) * 8 + i < N, floordiv(t, floordiv(N + 7, 8)) < 64) {
        %y[floordiv(t, floordiv(N + 7, 8)), mod(t, floordiv(N + 7, 8)) * 8 + i] = pad(%x[mod(t, floordiv(N + 7, 8)) * 8 + i - 1, 1, floordiv(t, floordiv(N + 7, 8))], 0.0)
      }
    }
  }
})",
             "vulkan1.2");
}

TEST_F(SpirvNestTest, MoreTasksThanWorkgroupsInARow) {
  ExpectAsEvaluated(R"(
loops @many(%x: input i32[70001], %y: output i32[70001]) {
  task %t: i32[300]
  phase i < 70001 {
    %t[mod(i, 300)] = %x[i]
    %y[i] = %t[mod(i, 300)] + i32(i)
  }
})");
}

TEST_F(SpirvNestTest, TasksTogether) {
  EXPECT_EQ(FirstPhase(R"(
loops @each(%x: input i32[1000], %y: output i32[1000]) {
  task %t: i32[4]
  phase i < 1000 {
    for j < 4 { %t[j] = %x[i] * i32(j) }
    %y[i] = %t[mod(i, 4)]
  }
})")
                .tasks_per_workgroup,
            64);
  ExpectAsEvaluated(R"(
loops @each(%x: input i32[1000], %y: output i32[1000]) {
  task %t: i32[4]
  phase i < 1000 {
    for j < 4 { %t[j] = %x[i] * i32(j) }
    %y[i] = %t[mod(i, 4)]
  }
})");
}

constexpr char kSlices[] = R"(
loops @slices<N>(%x: input f32[300, N], %y: output f32[300, N]) {
  task %t: f32[N]
  call %c: f32[300, N]
  phase i < 300 {
    for j < N { %t[j] = %x[i, j] * 2.0 }
    for j < N { %c[i, j] = %t[N - 1 - j] }
  }
  phase i < 300 {
    for j < N { %y[i, j] = %c[i, j] + %c[300 - 1 - i, j] }
  }
})";

TEST_F(SpirvNestTest, SlicesOfDeviceMemory) {
  const gpu::PhaseCode code = FirstPhase(kSlices);
  EXPECT_TRUE(code.has_slices);
  ExpectAsEvaluated(kSlices, {70});
}

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

// Everybody goes on to the next meeting.
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

TEST_F(SpirvNestTest, ProloguePacksConstants) {
  ExpectAsEvaluated(R"(
loops @packed(%w: input bf16[6, 10], %x: input f32[4, 6], %y: output f32[4, 10]) {
  packed %p: f32[2, 6, 5]
  prologue t < 2 { for k < 6 { for j < 5 { %p[t, k, j] = f32(%w[k, t * 5 + j]) } } }
  phase t < 4 {
    for o < 2 {
      for j < 5 {
        %y[t, o * 5 + j] = 0.0
        for k < 6 { %y[t, o * 5 + j] += %x[t, k] * %p[o, k, j] }
      }
    }
  }
})");
}

// 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, of which a product that is rounded
// keeps nothing of the last term.
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

// --- what is declined

TEST(SpirvDeclineTest, SaysWhatTheDeviceLacks) {
  EXPECT_THAT(EmissionError(R"(
loops @wide(%x: input f64[4], %y: output f64[4]) {
  phase t < 4 { %y[t] = %x[t] + 1.0 }
})",
                            "vulkan1.2"),
              HasSubstr("device-type: the device does not have the type: f64"));
  EXPECT_THAT(EmissionError(R"(
loops @small(%x: input i8[4], %y: output i8[4]) {
  phase t < 4 { %y[t] = %x[t] + 1 }
})",
                            "vulkan1.2"),
              HasSubstr("8-bit elements in memory"));
  EXPECT_THAT(
      EmissionError(R"(
loops @large(%x: input f32[256], %y: output f32[256]) {
  phase t < 1 { invocation i < 256 { %y[i] = %x[i] } }
})",
                    kSmallTarget),
      HasSubstr("device-limit: the device has too little of what the kernel "
                "needs: 256 invocations, where a workgroup has 64"));
  EXPECT_THAT(EmissionError(R"(
loops @rest(%x: input f32[4], %y: output f32[4]) {
  phase t < 4 { %y[t] = mod(%x[t], 3.0) }
})",
                            kSmallTarget),
              HasSubstr("float-remainder"));
}

// Mesa's llvmpipe ends loops without a word.
TEST(SpirvDeclineTest, MoreIterationsThanTheDriverRuns) {
  for (const int extent : {255, 256}) {
    const loops::LoopNest nest = ParseOrDie(
        "loops @sum(%x: input f32[" + std::to_string(extent) +
        ", 256], %y: output f32[1]) {\n  phase t < 1 {\n    %y[t] = 0.0\n"
        "    for i < " +
        std::to_string(extent) +
        " {\n      for j < 256 {\n        unroll k < 1 {\n"
        "          %y[t] += %x[i, j]\n        }\n      }\n    }\n  }\n}\n");
    const auto code =
        Emit(nest, "vulkan1.3+shared32768+invocations1024+iterations65535");
    EXPECT_EQ(code.ok(), extent == 255)  // 255 * 257 iterations
        << code.status().ToString();
    EXPECT_TRUE(Emit(nest, "vulkan1.3+shared32768+invocations1024").ok());
    if (code.ok()) continue;
    EXPECT_NE(code.status().message().find(
                  "up to 65792 iterations of an invocation's loops, where the "
                  "driver ends them after 65535"),
              std::string_view::npos)
        << code.status().ToString();
  }
}

// Of open extents the call decides.
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

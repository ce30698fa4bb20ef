// Tests programs of MSL as texts: how arguments are bound, and what is refused.
// Results are compared in tests/nests.
#include "jit/metal/source.h"

#include <string>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/c_like/kernels.h"
#include "jit/loops/text/text.h"
#include "jit/metal/target.h"

namespace ember::jit::metal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTarget[] = "metal2.4+subgroup32+shared32768+invocations1024";

StatusOr<std::string> ProgramOf(const std::string& text) {
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, loops::Parse(text));
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode code,
                         EmitProgram(nest, Target::Of(kTarget)));
  EXPECT_EQ(code.format, "msl");
  return c_like::TextOf(code);
}

TEST(Msl, BindsArguments) {
  const StatusOr<std::string> program = ProgramOf(R"(
loops @reversed<N>(%x: input f32[N, 64], %y: output f32[N, 64]) {
  task %tile: f32[64]
  phase t < N {
    invocation i < 64 { %tile[i] = %x[t, i] }
    invocation i < 64 { %y[t, i] = %tile[63 - i] }
  }
})");
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_THAT(*program, StartsWith("#include <metal_stdlib>\n"));
  EXPECT_THAT(
      *program,
      HasSubstr(
          "[[max_total_threads_per_threadgroup(64)]]\n"
          "kernel void phase0(device const uchar *a0 [[buffer(0)]], device "
          "uchar *a1 [[buffer(1)]], constant long *parameters [[buffer(30)]], "
          "threadgroup uchar *shared [[threadgroup(0)]]"));
  // The number of the first task is behind the parameter.
  EXPECT_THAT(*program, HasSubstr("= parameters[0];"));
  EXPECT_THAT(*program, HasSubstr("= parameters[1] + workgroup;"));
  EXPECT_THAT(*program, HasSubstr("threadgroup_barrier("));
}

TEST(Msl, NamesWhatItRefuses) {
  const Status doubles = ProgramOf(R"(
loops @sums(%x: input f32[8], %y: output f32[8]) {
  phase t < 8 { %y[t] = f32(f64(%x[t]) + 1.0:f64) }
})")
                             .status();
  EXPECT_EQ(doubles.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(doubles.message()),
              HasSubstr("device-type: the device does not have the type: f64"));

  const Status subgroups = ProgramOf(R"(
loops @subgroups(%a: input f16[16, 16], %b: input f16[16, 16],
                 %y: output f32[16, 16]) {
  register %acc: f32[1, 16, 16]
  phase t < 1 {
    subgroup s < 1 {
      matrix m < 16 { matrix n < 16 { %acc[s, m, n] = 0.0 } }
      matrix m < 16 { matrix n < 16 { matrix k < 16 {
        %acc[s, m, n] += f32(%a[m, k]) * f32(%b[k, n])
      } } }
      matrix m < 16 { matrix n < 16 { %y[m, n] = %acc[s, m, n] } }
    }
  }
})")
                               .status();
  EXPECT_EQ(subgroups.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(subgroups.message()), HasSubstr("device-matrix: "));
}

// The parameters are in the last buffer, so 30 buffers remain.
TEST(Msl, CountsBuffers) {
  const auto sum_of = [](int inputs) {
    std::string header, sum = "%x0[t]";
    for (int i = 0; i < inputs; ++i) {
      header += Concat({"%x", i, ": input i32[8], "});
      if (i > 0) sum = Concat({"(", sum, " + %x", i, "[t])"});
    }
    return ProgramOf(Concat({"loops @sum(", header,
                             "%y: output i32[8]) {\n  phase t < 8 { %y[t] = ",
                             sum, " }\n}"}))
        .status();
  };
  EXPECT_EQ(sum_of(29).ToString(), "OK");
  const Status status = sum_of(30);
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), StartsWith("device-limit: "));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("31 buffers, where a kernel has 30"));
}

}  // namespace
}  // namespace ember::jit::metal

// Tests the shared printer with the device nests of GPU kernels: the OpenCL C
// of default schedules and of nests, which clang must accept if it is
// installed, and the reasons for which nests are declined.
#include "jit/opencl/source.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/concat.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/c_like/kernels.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/text/text.h"
#include "jit/opencl/target.h"
#include "tensor/text/text.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::opencl {
namespace {

using ::testing::HasSubstr;

constexpr char kCompiler[] =
    "clang-19 -x cl -cl-std=CL3.0 -target spir64 -fsyntax-only -Werror ";
constexpr char kTarget[] =
    "opencl1.2+f64+subgroup32+shared49152+invocations1024";

struct Kernel {
  const char* name;
  const char* dispatch;
  bool has_barriers;
};

constexpr Kernel kKernels[] = {
    {"tiles of a product", R"(
  dispatch @product(%a: f32[128, 64], %b: f32[64, 128]) -> (%y: f32[128, 128]) {
    %y[i, j] = sum(k < 64) %a[i, k] * %b[k, j]
  })",
     true},
    {"tiles of 16-bit floats, loaded ahead", R"(
  dispatch @halves(%a: f16[256, 64], %b: f16[64, 256]) -> (%y: f32[256, 256]) {
    %y[i, j] = sum(k < 64) f32(%a[i, k]) * f32(%b[k, j])
  })",
     true},
    {"a transposed tile", R"(
  dispatch @transposed(%x: f16[512, 512]) -> (%y: f16[512, 512]) {
    %y[i, j] = %x[j, i]
  })",
     true},
    {"a convolution of bytes with an open extent", R"(
  dispatch @convolution<N>(%x: u8[N, 30, 30, 16], %w: i8[3, 3, 16, 32]) -> (%y: i32[N, 28, 28, 32]) {
    %y[n, h, w, c] = sum(a < 3, b < 3, k < 16) i32(%x[n, h + a, w + b, k]) * i32(%w[a, b, k, c])
  })",
     true},
    {"a function of each element", R"(
  dispatch @gelu<N>(%x: f32[N, 96], %s: f32[96]) -> (%y: f32[N, 96]) {
    %y[i, j] = %x[i, j] * %s[j] * (1.0 + erf(%x[i, j] * 0.70710678))
  })",
     false},
    {"reductions of rows, by halves", R"(
  dispatch @softmax(%x: f32[4, 2000]) -> (%y: f32[4, 2000]) {
    temp %most: f32[4]
    temp %e: f32[4, 2000]
    temp %sum: f32[4]
    %most[i] = maximum(k < 2000) %x[i, k]
    %e[i, j] = exp(%x[i, j] - %most[i])
    %sum[i] = sum(k < 2000) %e[i, k]
    %y[i, j] = %e[i, j] / %sum[i]
  })",
     true},
};

StatusOr<std::string> TextOf(const loops::LoopNest& nest, const char* target) {
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode code,
                         EmitProgram(nest, Target::Of(target)));
  return c_like::TextOf(code);
}

StatusOr<std::string> KernelOf(const char* text) {
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch, tensor::Parse(text));
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.target = kTarget;
  request.tier = 2;
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                         BuildNest(request, {}, nullptr));
  return TextOf(nest, kTarget);
}

StatusOr<std::string> OfNest(const char* text, const char* target = kTarget) {
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, loops::Parse(text));
  return TextOf(nest, target);
}

bool HasCompiler() {
  static const bool has_it =
      std::system("clang-19 --version >/dev/null 2>&1") == 0;
  return has_it;
}

// Compiles the OpenCL C in `file`. Returns the compiler's messages; empty if it
// accepts the text.
std::string Messages(const std::string& file) {
  const std::string path =
      Concat({::testing::TempDir(), "/ember_opencl_", getpid()});
  const std::string source = path + ".cl", log = path + ".log";
  EXPECT_TRUE(WriteFileAtomically(source, file).ok());
  const bool is_accepted =
      std::system(Concat({kCompiler, source, " >", log, " 2>&1"}).c_str()) == 0;
  const StatusOr<std::string> said = ReadFile(log);
  std::remove(source.c_str());
  std::remove(log.c_str());
  if (is_accepted) return "";
  return said.ok() && !said->empty() ? *said : "refused without a message";
}

TEST(OpenCl, PrintsKernelsOfDefaultSchedules) {
  for (const Kernel& kernel : kKernels) {
    SCOPED_TRACE(kernel.name);
    const StatusOr<std::string> file = KernelOf(kernel.dispatch);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_THAT(*file, HasSubstr("const int i"));
    EXPECT_EQ(file->find("barrier(") != std::string::npos, kernel.has_barriers)
        << *file;
    EXPECT_EQ(file->find("  local ") != std::string::npos, kernel.has_barriers)
        << *file;
    if (HasCompiler()) {
      EXPECT_EQ(Messages(*file), "") << *file;
    }
  }
}

// The compiler must refuse wrong code; otherwise the tests would pass with a
// command that checks nothing.
TEST(OpenCl, CompilerRefusesWrongCode) {
  if (!HasCompiler()) GTEST_SKIP() << "no compiler of OpenCL C: clang-19";
  EXPECT_THAT(Messages("kernel void f(global float *x) { y[0] = 1; }\n"),
              HasSubstr("undeclared identifier 'y'"));
}

// Stores outside of loops over invocations are performed by the first
// invocation alone. A buffer of registers has no index for the invocation,
// since each invocation has its own copy.
TEST(OpenCl, IsReadable) {
  const StatusOr<std::string> file = OfNest(R"(
loops @product(%x: input f32[49, 512], %w: input f32[512, 64],
               %y: output f32[49, 64], %z: output f32[49]) {
  task %tile: f32[64]
  register %sum: f32[64, 2]
  phase t < 49 {
    %z[t] = %x[t, 1]
    invocation i < 64 { %sum[i, 0] = 0.0 }
    for k0 < 8 {
      invocation i < 64 { %tile[i] = %x[t, k0 * 64 + i] }
      invocation i < 64 {
        for k1 < 64 { %sum[i, 0] += %tile[k1] * %w[k0 * 64 + k1, i] }
      }
    }
    invocation i < 64 { %y[t, i] = %sum[i, 0] }
  }
})");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(*file, HasSubstr(R"(
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void phase0(global const uchar *restrict a0, const ulong o0, global const uchar *restrict a1, const ulong o1, global uchar *restrict a2, const ulong o2, global uchar *restrict a3, const ulong o3, const long first) {
  const int workgroup = get_group_id(0) + get_group_id(1) * get_num_groups(0);
  const int task = first + workgroup;
  local uchar shared[256] __attribute__((aligned(16)));
  global const float *b0_x = (global const float *)(a0 + o0);
  global float *b3_z = (global float *)(a3 + o3);
  float b5_sum[2];
  local float *const b4_tile = (local float *)(shared + 0);
  global const float *b1_w = (global const float *)(a1 + o1);
  global float *b2_y = (global float *)(a2 + o2);
  if (task < 49) {
    const int i0_t = task;
    if (get_local_id(0) == 0) {
      const float v1 = b0_x[(size_t)i0_t * 512 + 1];
      b3_z[(size_t)i0_t] = v1;
    }
    if (get_local_id(0) < 64) {
      const int i1_i = get_local_id(0);
      b5_sum[0] = 0x0p+0f;
    }
    for (int i2_k0 = 0; i2_k0 < 8; ++i2_k0) {
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (get_local_id(0) < 64) {
)"));
  if (HasCompiler()) {
    EXPECT_EQ(Messages(*file), "") << *file;
  }
}

// A failed check is recorded. The invocation then leaves the block of the check
// but not the kernel, because other invocations may wait for it at a barrier.
TEST(OpenCl, RecordsFailedChecks) {
  const StatusOr<std::string> file = OfNest(R"(
loops @looked_up(%x: input f32[8], %i: input i64[128], %y: output f32[128]) {
  phase t < 2 {
    invocation i < 64 {
      check %x.0 %i[t * 64 + i] < 8
      %y[t * 64 + i] = %x[%i[t * 64 + i]]
    }
  }
})");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(*file,
              HasSubstr("global int *const record = (global int *)(a3 + o3);"));
  EXPECT_THAT(*file, HasSubstr("record_failure(record, 0, 0, v"));
  EXPECT_THAT(*file, HasSubstr("{ v1 = 0; record_failure("));
  EXPECT_THAT(*file, HasSubstr("      if (v1) {\n"));
  if (HasCompiler()) {
    EXPECT_EQ(Messages(*file), "") << *file;
  }
}

// A buffer of a task that is too large for the workgroup's memory is in the
// device's memory, where each workgroup has a slice.
TEST(OpenCl, HasSlices) {
  const StatusOr<std::string> file = OfNest(R"(
loops @large<N>(%x: input f32[N, 4], %y: output f32[N, 4]) {
  task %t: f32[N, 3000]
  phase t < N {
    invocation i < 4 { for k < N { %t[k, i] = %x[t, i] } }
    invocation i < 4 { %y[t, i] = %t[0, 3 - i] }
  }
})");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(*file, HasSubstr("b2_t += (size_t)workgroup * ("));
  if (HasCompiler()) {
    EXPECT_EQ(Messages(*file), "") << *file;
  }
}

TEST(OpenCl, NamesWhatItRefuses) {
  const Status doubles = OfNest(R"(
loops @sums(%x: input f32[8], %y: output f32[8]) {
  phase t < 8 { %y[t] = f32(f64(%x[t]) + 1.0:f64) }
})",
                                "opencl1.2+subgroup32+shared49152")
                             .status();
  EXPECT_THAT(std::string(doubles.message()), HasSubstr("device-type: "));

  const Status subgroups = OfNest(R"(
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
  EXPECT_THAT(std::string(subgroups.message()), HasSubstr("device-matrix: "));
}

}  // namespace
}  // namespace ember::jit::opencl

// Tests how programs of MSL are read and run: arguments by their attributes,
// arrays that a threadgroup shares, and what is refused.
#include "hal/metal/testing/msl_program.h"

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/metal/testing/msl_kernels.h"

namespace ember::hal::metal::fake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kReverse[] = R"(#include <metal_stdlib>
using namespace metal;
struct Numbers { int first; int count; };

[[max_total_threads_per_threadgroup(8)]]
kernel void reverse(constant Numbers& numbers [[buffer(2)]], device int *to [[buffer(0)]],
                    uint index [[thread_index_in_threadgroup]],
                    uint3 at [[thread_position_in_grid]]) {
  threadgroup int tile[8];
  tile[index] = to[at.x] + numbers.first;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  to[at.x] = tile[numbers.count - 1 - index];
}
)";

TEST(MslKernels, ReadsArguments) {
  std::vector<MslKernel> kernels;
  ASSERT_EQ(ReadKernels(kReverse, kernels), "");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "reverse");
  EXPECT_EQ(kernels[0].max_threads, 8U);
  EXPECT_FALSE(kernels[0].has_threadgroup_memory);
  EXPECT_THAT(kernels[0].buffers, ElementsAre(2, 0));
  EXPECT_EQ(kernels[0].call,
            "ember_shim::Reference{arguments[2]}, "
            "ember_shim::Pointer{arguments[0]}, ember_shim::InGroup(thread), "
            "ember_shim::InGrid(thread)");
  EXPECT_THAT(
      ReadKernels("kernel void f(texture2d<float> t [[texture(0)]]) {}",
                  kernels),
      HasSubstr("kernel f: the argument 'texture2d<float> t [[texture(0)]]'"));
}

TEST(MslKernels, SharesArraysOfThreadgroups) {
  EXPECT_EQ(WithSharedArrays("{\n  threadgroup float a[4];\n"
                             "  threadgroup float *b = c;\n"
                             "  f((threadgroup float *)d[0]);\n}"),
            "{\n  static threadgroup float a[4];\n"
            "  threadgroup float *b = c;\n"
            "  f((threadgroup float *)d[0]);\n}");
}

TEST(MslProgram, RunsThreadgroups) {
  if (std::system("c++ --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no C++ compiler: c++";
  std::string problem;
  const auto program = MslProgram::Compile(kReverse, problem);
  ASSERT_NE(program, nullptr) << problem;
  EXPECT_EQ(program->Find("other"), nullptr);
  std::vector<int> values(16);
  std::iota(values.begin(), values.end(), 0);
  int numbers[] = {100, 8};
  BufferAddresses addresses = {};
  addresses[0] = values.data();
  addresses[2] = numbers;
  EXPECT_EQ(program->Find("reverse")->Run({2, 1, 1}, {8, 1, 1}, 0, addresses),
            "");
  EXPECT_THAT(values, ElementsAre(107, 106, 105, 104, 103, 102, 101, 100, 115,
                                  114, 113, 112, 111, 110, 109, 108));
}

TEST(MslProgram, SaysWhatDoesNotCompile) {
  if (std::system("c++ --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no C++ compiler: c++";
  std::string problem;
  EXPECT_EQ(MslProgram::Compile("kernel void f() { g(); }", problem), nullptr);
  EXPECT_THAT(problem, HasSubstr("program.cc:1"));
}

}  // namespace
}  // namespace ember::hal::metal::fake

// Tests matrix products under default schedules on a device with cooperative
// matrices, the sizes of their workgroups and memory, and that nests are
// declined if a device has no such matrices. ./dev lavapipe runs the tests that
// Debian 12's lavapipe skips. //tests/nests:conformance_test tests products in
// every layout.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/testing/matrix_nests.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing/run_nest.h"
#include "jit/spirv/tools.h"
#include "jit/target/gpu_model.h"
#include "tensor/text/text.h"

namespace ember::jit::spirv {
namespace {

using loops::MatrixNest;
using loops::MatrixType;
using ::testing::HasSubstr;

constexpr char kTarget[] =
    "vulkan1.3+f16+int8+storage8+storage16+matrix+vulkan_memory_model+"
    "matrix16x16x16:f16:f16:f32+matrix16x16x32:u8:u8:i32+"
    "matrix16x16x32:i8:i8:i32+subgroup32+shared32768+invocations1024";

class MatricesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoMatrices();
    if (why.empty()) return;
    // ./dev ci sets EMBER_TEST_MATRICES on machines whose device must have
    // cooperative matrices; there the test may not be skipped.
    ASSERT_EQ(std::getenv("EMBER_TEST_MATRICES"), nullptr) << why;
    GTEST_SKIP() << why;
  }
};

// Runs the dispatch on the device under the default schedule of a GPU, even if
// the device is a CPU.
void ExpectScheduled(std::string_view text) {
  SCOPED_TRACE(text);
  const auto dispatch = tensor::Parse(text);
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  GpuModel gpu = GpuModel::Of(TestTarget());
  gpu.is_cpu_like = false;
  gpu.max_invocations = 64;
  gpu.workgroup_size = 32;
  gpu.busy_invocations = 128;
  schedule::Schedule chosen(schedule::Disassemble(*dispatch, {}));
  const Status status = schedule::ScheduleForGpu(gpu, chosen);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(chosen.ToText(), HasSubstr("multiply_matrices"));
  const auto nest = schedule::Lower(chosen);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  ExpectAsEvaluated(loops::ToText(*nest));
}

TEST_F(MatricesTest, DefaultSchedules) {
  // The sizes of the first product are multiples of the matrices'; in the next
  // one, neither rows nor columns nor the sum's length are.
  ExpectScheduled(R"(
    dispatch @product(%a: f16[64, 128], %b: f16[128, 64]) -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) f32(%a[i, k]) * f32(%b[k, j])
    })");
  ExpectScheduled(R"(
    dispatch @product(%a: f16[37, 100], %b: f16[100, 21], %c: f16[21])
        -> (%y: f16[37, 21]) {
      temp %sum: f32[37, 21]
      %sum[i, j] = sum(k < 100) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = max(f16(%sum[i, j]) + %c[j], 0.0)
    })");
  ExpectScheduled(R"(
    dispatch @bytes(%a: i8[64, 128], %b: i8[64, 128]) -> (%y: i32[64, 64]) {
      %y[i, j] = sum(k < 128) i32(%a[i, k]) * i32(%b[j, k])
    })");
}

// --- Tests that need no device. ---

StatusOr<ModuleCode> EmitFor(const char* target, const MatrixType& type,
                             MatrixNest form) {
  return EmitModule(ParseOrDie(loops::TextOf(form, type)), Target::Of(target));
}

constexpr MatrixType kHalves = {16,          16,          16,
                                DType::kF16, DType::kF16, DType::kF32};
constexpr MatrixType kBytes = {16, 16, 32, DType::kU8, DType::kU8, DType::kI32};

TEST(MatricesPlanTest, WorkgroupsAreWholeSubgroups) {
  const auto code = EmitFor(kTarget, kHalves, MatrixNest::kFromSharedMemory);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(code->phases[0].invocations, 64);
  // The factors in the workgroup's memory are f16, with two bytes per element;
  // the sums are f32.
  EXPECT_EQ(code->phases[0].shared_bytes,
            2 * (2 * 32 * 16 + 2 * 16 * 16) + 4 * 32 * 16);
  // The accumulators are divided evenly among the 32 invocations of a subgroup.
  EXPECT_EQ(code->phases[0].register_bytes, 16 * 16 * 4 / 32);
  const auto words = EmitFor(kTarget, kBytes, MatrixNest::kOfVectors);
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_EQ(words->phases[0].invocations, 64);
  EXPECT_EQ(words->phases[0].shared_bytes, 16 * 32);
}

// Vulkan requires that, in a module with cooperative matrices, the workgroups
// of all entry points consist of whole subgroups, even those of phases without
// matrices.
TEST(MatricesPlanTest, SoAreThoseOfOtherPhases) {
  const auto code = EmitFor(kTarget, kHalves, MatrixNest::kInOnePhase);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  for (const gpu::PhaseCode& phase : code->phases)
    EXPECT_EQ(phase.invocations % 32, 0) << phase.entry_point;
}

TEST(MatricesPlanTest, DeclinesWhatTheTargetDoesNotList) {
  const auto why = [](const char* target, const MatrixType& type) {
    const auto code = EmitFor(target, type, MatrixNest::kFromDeviceMemory);
    return code.ok() ? "" : code.status().ToString();
  };
  EXPECT_EQ(why(kTarget, kBytes), "");
  MatrixType other = kHalves;
  other.depth = 8;
  EXPECT_THAT(why(kTarget, other), HasSubstr("16x16x8:f16:f16:f32"));
  EXPECT_THAT(why("vulkan1.3+matrix16x16x16:f16:f16:f32", kHalves),
              HasSubstr("device-matrix"));
  EXPECT_THAT(why("vulkan1.3+vulkan_memory_model+storage16+"
                  "matrix16x16x16:f16:f16:f32+subgroup32",
                  kHalves),
              HasSubstr("arithmetic of f16"));
}

// Shows that the module can be disassembled, whether or not the linked
// SPIRV-Tools knows cooperative matrices.
TEST(MatricesPlanTest, ModulesCanBeRead) {
  const auto code = EmitFor(kTarget, kBytes, MatrixNest::kFromDeviceMemory);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  const std::string text = DisassembleModule(code->words);
  for (const char* what :
       {"OpCapability CooperativeMatrixKHR",
        "OpExtension \"SPV_KHR_cooperative_matrix\"",
        "OpTypeCooperativeMatrixKHR %", "OpCooperativeMatrixLoadKHR %",
        "OpCooperativeMatrixStoreKHR %", "OpCooperativeMatrixMulAddKHR %",
        "OpMemoryModel Logical Vulkan"}) {
    EXPECT_THAT(text, HasSubstr(what));
  }
  const Status valid = Validate(code->words);
  if (valid.code() == StatusCode::kUnimplemented)
    GTEST_SKIP() << valid.message();
  EXPECT_TRUE(valid.ok()) << valid.ToString() << text;
}

}  // namespace
}  // namespace ember::jit::spirv

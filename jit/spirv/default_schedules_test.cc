// Tests two choices of the default schedules of GPUs: products that load the
// factors of the next step ahead (double_buffer), and loops over points that
// become vectors. Checked are a workgroup's memory, the number of barriers and
// loads, and the results on the machine's device.
#include <cstdio>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing/run_nest.h"
#include "jit/spirv/tools.h"
#include "jit/target/gpu_model.h"
#include "tensor/text/text.h"

namespace ember::jit::spirv {
namespace {

using ::testing::HasSubstr;

constexpr char kGpu[] =
    "vulkan1.3+int64+storage8+storage16+subgroup32+shared49152+invocations1024";

schedule::Schedule ScheduleOf(std::string_view text, const GpuModel& gpu) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  schedule::Schedule chosen(schedule::Disassemble(*dispatch, {}));
  const Status status = schedule::ScheduleForGpu(gpu, chosen);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return chosen;
}

loops::LoopNest NestOf(const schedule::Schedule& schedule) {
  auto nest = schedule::Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  const Status verified = loops::Verify(*nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  return *std::move(nest);
}

// Returns the schedule `whole` without its double_buffer lines, so that it does
// not load ahead.
schedule::Schedule Single(std::string_view text,
                          const schedule::Schedule& whole) {
  std::string lines = whole.ToText();
  for (size_t at = lines.find("  double_buffer"); at != std::string::npos;
       at = lines.find("  double_buffer")) {
    lines.erase(at, lines.find('\n', at) + 1 - at);
  }
  const auto dispatch = tensor::Parse(text);
  schedule::Schedule single(schedule::Disassemble(*dispatch, {}));
  const Status status = Replay(lines, single);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return single;
}

gpu::PhaseCode CodeOf(const loops::LoopNest& nest) {
  const auto code = EmitModule(nest, Target::Of(kGpu));
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return {};
  const Status valid = ValidateModule(code->words);
  EXPECT_TRUE(valid.ok()) << valid.ToString();
  return code->phases[0];
}

// Compares the default schedule of a product of 1024 x 1024 matrices with the
// same schedule without double_buffer: it takes twice the memory and needs one
// barrier per step instead of two.
TEST(DoubleBuffer, OneBarrierPerSlice) {
  constexpr std::string_view kProduct = R"(
    dispatch @product(%a: f32[1024, 1024], %b: f32[1024, 1024])
        -> (%y: f32[1024, 1024]) {
      %y[i, j] = sum(k < 1024) %a[i, k] * %b[k, j]
    })";
  const schedule::Schedule schedule = ScheduleOf(kProduct, GpuModel::Of(kGpu));
  EXPECT_THAT(schedule.ToText(), HasSubstr("double_buffer %a.slice registers"));
  EXPECT_THAT(schedule.ToText(), HasSubstr("double_buffer %b.slice registers"));
  const gpu::PhaseCode two = CodeOf(NestOf(schedule));
  const gpu::PhaseCode one = CodeOf(NestOf(Single(kProduct, schedule)));
  std::printf("double: %s\nsingle: %s\n", two.Figures().c_str(),
              one.Figures().c_str());
  EXPECT_EQ(one.barriers, 2);
  EXPECT_EQ(two.barriers, 1);
  EXPECT_EQ(two.shared_bytes, 2 * one.shared_bytes);
  EXPECT_LE(two.shared_bytes * 2, GpuModel::Of(kGpu).shared_bytes);
  // Loading ahead adds only the loads of the first step before the loop; the
  // loop has as many loads as without.
  EXPECT_LE(two.loads, 2 * one.loads);
}

// --- Tests that run on a device. ---

// Returns the model of a GPU that is so small that even a small product has
// several workgroups.
GpuModel SmallGpu() {
  GpuModel gpu = GpuModel::Of(kGpu);
  gpu.is_cpu_like = false;
  gpu.max_invocations = 64;
  gpu.workgroup_size = 32;
  gpu.busy_invocations = 128;
  gpu.registers = 40;
  return gpu;
}

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  }
};

// Runs the dispatch under its default schedule on the device, and expects the
// evaluator's results. `wanted`: a text that the schedule must contain.
void ExpectRuns(std::string_view text, const std::string& wanted,
                const std::vector<int64_t>& parameters = {},
                const GpuModel& gpu = SmallGpu()) {
  const schedule::Schedule schedule = ScheduleOf(text, gpu);
  ASSERT_THAT(schedule.ToText(), HasSubstr(wanted));
  ExpectAsEvaluated(loops::ToText(NestOf(schedule)), parameters);
}

TEST_F(DeviceTest, Products) {
  for (const std::string_view type : {"f32", "f16", "i32"}) {
    const std::string t(type);
    ExpectRuns("dispatch @product(%a: " + t + "[40, 72], %b: " + t +
                   "[72, 48]) -> (%y: " + t +
                   "[40, 48]) { %y[i, j] = sum(k < 72) %a[i, k] * "
                   "%b[k, j] }",
               "double_buffer %a.slice registers");
  }
}

// Tests sizes for which the last step of the sum and the tiles at the edges are
// partial.
TEST_F(DeviceTest, RaggedProducts) {
  ExpectRuns(R"(
    dispatch @product(%a: f32[33, 70], %b: f32[70, 45]) -> (%y: f32[33, 45]) {
      %y[i, j] = sum(k < 70) %a[i, k] * %b[k, j]
    })",
             "double_buffer %a.slice");
}

TEST_F(DeviceTest, OpenProducts) {
  constexpr std::string_view kProduct = R"(
    dispatch @product<M, K>(%a: f32[M, K], %b: f32[K, 48])
        -> (%y: f32[M, 48]) {
      %y[i, j] = sum(k < K) %a[i, k] * %b[k, j]
    })";
  ExpectRuns(kProduct, "double_buffer %a.slice\n", {37, 70});
  ExpectRuns(kProduct, "double_buffer %b.slice\n", {5, 3});
}

TEST_F(DeviceTest, Convolutions) {
  ExpectRuns(R"(
    dispatch @conv(%x: f32[1, 5, 5, 64], %w: f32[3, 3, 64, 24])
        -> (%y: f32[1, 5, 5, 24]) {
      for (n < 1, h < 5, w < 5, o < 24)
        %y[n, h, w, o] = sum(dh < 3, dw < 3, c < 64)
            pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0) * %w[dh, dw, c, o]
    })",
             "double_buffer %x.slice registers");
}

// --- Loops over points that become vectors. ---

std::string Sum(const std::string& type, const std::string& parameters,
                const std::string& dims, const std::string& a,
                const std::string& b) {
  return "dispatch @sum" + parameters + "(%a: " + type + dims +
         ", %b: " + type + "[48]) -> (%y: " + type + dims +
         ") { %y[i, j] = %a[" + a + "] + %b[" + b + "] }";
}

GpuModel BusySoon() {
  GpuModel gpu = SmallGpu();
  gpu.busy_invocations = 8;
  return gpu;
}

// Shows that an invocation loads the elements of each operand by one
// instruction of 16 bytes.
TEST(Vectors, LoadsOfAnInvocation) {
  const auto code = [](const std::string& type) {
    return CodeOf(
        NestOf(ScheduleOf(Sum(type, "", "[64, 48]", "i, j", "j"), BusySoon())));
  };
  for (const char* type : {"f32", "f16", "u8", "i32"}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(code(type).loads, 2);
  }
}

TEST_F(DeviceTest, Vectors) {
  const std::string vectorize = "vectorize %y j_lane";
  for (const char* type : {"f32", "f16", "u8", "i32"}) {
    SCOPED_TRACE(type);
    ExpectRuns(Sum(type, "", "[9, 48]", "i, j", "j"), vectorize, {},
               BusySoon());
    // Tests indices of other forms: %a's rows are read in reverse order, and
    // all lanes use the same element of %b.
    ExpectRuns(Sum(type, "", "[9, 48]", "8 - i, j", "i"), vectorize, {},
               BusySoon());
    ExpectRuns(Sum(type, "<N>", "[N, 48]", "i, j", "j"), vectorize, {7},
               BusySoon());
    ExpectRuns(Sum(type, "<N>", "[N, 48]", "i, j", "j"), vectorize, {0},
               BusySoon());
  }
}

TEST_F(DeviceTest, VectorsOfReductions) {
  ExpectRuns(R"(
    dispatch @pool(%x: f32[9, 9, 24]) -> (%y: f32[4, 4, 24]) {
      %y[h, w, c] = maximum(i < 3, j < 3) %x[h * 2 + i, w * 2 + j, c]
    })",
             "vectorize %y c_lane", {}, BusySoon());
}

// Shows cases in which the default schedule uses no vectors: too few points for
// the GPU, f64, accesses that are not aligned, and accesses that are not
// contiguous along the axis.
TEST(Vectors, NotWhereTheyAreOfNoUse) {
  const auto lanes = [](const std::string& text, const GpuModel& gpu) {
    return ScheduleOf(text, gpu).ToText().find("vectorize") !=
           std::string::npos;
  };
  EXPECT_TRUE(lanes(Sum("f32", "", "[64, 48]", "i, j", "j"), BusySoon()));
  EXPECT_FALSE(
      lanes(Sum("f32", "", "[64, 48]", "i, j", "j"), GpuModel::Of(kGpu)));
  EXPECT_FALSE(lanes(Sum("f64", "", "[64, 48]", "i, j", "j"), BusySoon()));
  EXPECT_FALSE(lanes(Sum("f32", "", "[48, 47]", "i, j", "j"), BusySoon()));
  EXPECT_FALSE(lanes(Sum("f32", "<N>", "[48, N]", "i, j", "0"), BusySoon()));
  EXPECT_FALSE(lanes(Sum("f32", "", "[48, 48]", "j, i", "j"), BusySoon()));
  EXPECT_FALSE(lanes(Sum("f32", "", "[64, 48]", "i, 47 - j", "j"), BusySoon()));
  EXPECT_FALSE(lanes(R"(
    dispatch @slice(%a: f32[64, 50]) -> (%y: f32[64, 48]) {
      %y[i, j] = %a[i, j + 1]
    })",
                     BusySoon()));
}

}  // namespace
}  // namespace ember::jit::spirv

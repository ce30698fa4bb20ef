#include "jit/ptx/products_testing.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/gpu/testing.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/ptx/assembler_testing.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/target.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/target/gpu_model.h"
#include "tensor/random_values.h"
#include "tensor/text.h"

namespace ember::jit::ptx {

using ::testing::HasSubstr;

GpuModel SmallGpu(std::string_view target) {
  GpuModel gpu = GpuModel::Of(target);
  gpu.busy_invocations = 256;
  gpu.processors = 1;
  return gpu;
}

std::optional<loops::LoopNest> NestByDefault(std::string_view text,
                                             const GpuModel& gpu,
                                             std::string_view constant) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  if (!dispatch.ok()) return std::nullopt;
  schedule::Computation computation = schedule::Disassemble(*dispatch, {});
  if (!constant.empty()) {
    const int number = computation.FindBuffer(constant);
    EXPECT_GE(number, 0) << "no %" << constant;
    if (number < 0) return std::nullopt;
    computation.buffers[static_cast<size_t>(number)].is_constant = true;
  }
  schedule::Schedule schedule(std::move(computation));
  const Status chosen = schedule::ScheduleForGpu(gpu, schedule);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  auto nest = schedule::Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return std::nullopt;
  return *std::move(nest);
}

std::string PtxOf(const loops::LoopNest& nest, std::string_view target) {
  CodeTexts texts;
  const auto code = CompileNest(nest, Target::Of(target), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  return texts.ptx;
}

std::optional<uint64_t> ExpectOnGrid(std::string_view text, std::string* ptx,
                                     const GridExpectations& expectations) {
  SCOPED_TRACE(text);
  const std::shared_ptr<hal::Device> device = TestDevice();
  const std::string target(device->target());
  const auto nest =
      NestByDefault(text, SmallGpu(target), expectations.constant);
  if (!nest) return std::nullopt;
  if (expectations.has_matrices) {
    EXPECT_THAT(loops::ToText(*nest), HasSubstr("matrix "));
  }
  EXPECT_TRUE(loops::Verify(*nest).ok());
  gpu::Bytes expected = gpu::SmallContents(*nest, {});
  gpu::Bytes actual = expected;
  EXPECT_TRUE(loops::Evaluate(*nest, {}, tensor::Pointers(expected)).ok());
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  CodeTexts texts;
  auto code = CompileNest(*nest, Target::Of(target), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return std::nullopt;
  if (HasAssembler()) {
    EXPECT_EQ(Assemble(texts.ptx, Target::Of(target).processor), "");
  }
  if (ptx != nullptr) *ptx = texts.ptx;
  const Status ran = gpu::RunNest(device, *nest, *std::move(code), {}, actual);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest->buffers[i].type, expected[i],
                                            actual[i], expectations.within,
                                            expectations.within),
              "")
        << "%" << nest->buffers[i].name;
  }
  if (!Target::Of(target).is_emulated) return std::nullopt;
  const hal::cuda::GridStatistics after = hal::cuda::TotalStatistics();
  if (expectations.has_matrices) {
    EXPECT_GT(after.matrix_loads, before.matrix_loads);
    EXPECT_EQ(after.matrix_passes - before.matrix_passes,
              after.matrix_loads - before.matrix_loads);
  }
  return after.products - before.products;
}

}  // namespace ember::jit::ptx

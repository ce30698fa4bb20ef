#include "jit/ptx/testing/products.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/target/gpu_model.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"

namespace ember::jit::ptx {

using ::testing::HasSubstr;

GpuModel SmallGpu(std::string_view target) {
  GpuModel gpu = GpuModel::Of(target);
  gpu.busy_invocations = 256;
  gpu.processors = 1;
  return gpu;
}

namespace {

// Returns the nest of the dispatch under the schedule that choose(schedule)
// builds. `constant`: name of an input that never changes, or "".
template <typename Choose>
std::optional<loops::LoopNest> NestOf(std::string_view text,
                                      std::string_view constant,
                                      Choose&& choose) {
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
  const Status chosen = choose(schedule);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  auto nest = schedule::Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return std::nullopt;
  return *std::move(nest);
}

}  // namespace

std::optional<loops::LoopNest> NestByDefault(std::string_view text,
                                             const GpuModel& gpu,
                                             std::string_view constant) {
  return NestOf(text, constant, [&](schedule::Schedule& schedule) {
    return schedule::ScheduleForGpu(gpu, schedule);
  });
}

std::string PtxOf(const loops::LoopNest& nest, std::string_view target) {
  CodeTexts texts;
  const auto code = CompileNest(nest, Target::Of(target), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  return texts.ptx;
}

namespace {

// A compiled product: its nest, and its code, which ptxas has accepted if it is
// installed.
struct Product {
  loops::LoopNest nest;
  gpu::DeviceCode code;
};

std::string TargetOf(const GridExpectations& expectations) {
  std::string target = Concat({TestDevice()->target(), expectations.features});
  const size_t at = target.find(expectations.without);
  EXPECT_NE(at, std::string::npos) << expectations.without;
  if (at != std::string::npos)
    target.replace(at, expectations.without.size(), expectations.instead);
  return target;
}

std::optional<Product> ProductOf(std::string_view text, std::string* ptx,
                                 const GridExpectations& expectations) {
  const std::string target = TargetOf(expectations);
  GpuModel gpu = SmallGpu(target);
  if (expectations.processors > 1) {
    gpu.processors = expectations.processors;
    gpu.busy_invocations *= gpu.processors;
    gpu.latency_clocks = 0;
  }
  auto nest =
      expectations.schedule.empty()
          ? NestByDefault(text, gpu, expectations.constant)
          : NestOf(text, expectations.constant,
                   [&](schedule::Schedule& schedule) {
                     return schedule::Replay(expectations.schedule, schedule);
                   });
  if (!nest) return std::nullopt;
  if (expectations.has_matrices) {
    EXPECT_THAT(loops::ToText(*nest), HasSubstr("matrix "));
  }
  EXPECT_TRUE(loops::Verify(*nest).ok());
  CodeTexts texts;
  auto code = CompileNest(*nest, Target::Of(target), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return std::nullopt;
  if (HasAssembler()) {
    EXPECT_EQ(Assemble(texts.ptx, Target::Of(target).processor), "");
  }
  if (ptx != nullptr) *ptx = texts.ptx;
  return Product{*std::move(nest), *std::move(code)};
}

// Returns how many matrix instructions the emulated grid has executed since
// `before`; nullopt on a GPU, which does not count them.
std::optional<uint64_t> ProductsSince(const hal::cuda::GridStatistics& before,
                                      const GridExpectations& expectations) {
  if (!Target::Of(TestDevice()->target()).is_emulated) return std::nullopt;
  const hal::cuda::GridStatistics after = hal::cuda::TotalStatistics();
  if (expectations.has_matrices) {
    EXPECT_GT(after.products, before.products);
    EXPECT_EQ(after.matrix_passes - before.matrix_passes,
              after.matrix_loads - before.matrix_loads);
  }
  return after.products - before.products;
}

// Returns the bytes with a change applied to each element, which is an f32.
template <typename Change>
std::vector<uint8_t> Changed(std::vector<uint8_t> bytes, const Change& change) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i], sizeof bits);
    bits = change(bits);
    std::memcpy(&bytes[i], &bits, sizeof bits);
  }
  return bytes;
}

std::vector<float> FloatsOf(const std::vector<uint8_t>& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

// Returns the evaluator's result for inputs whose elements are changed first.
template <typename Change>
std::vector<float> Evaluated(const loops::LoopNest& nest,
                             const gpu::Bytes& contents, const Change& change) {
  gpu::Bytes buffers = contents;
  for (size_t i = 0; i + 1 < buffers.size(); ++i)
    buffers[i] = Changed(buffers[i], change);
  EXPECT_TRUE(loops::Evaluate(nest, {}, tensor::Pointers(buffers)).ok());
  return FloatsOf(buffers.back());
}

}  // namespace

std::optional<uint64_t> ExpectOnGrid(std::string_view text, std::string* ptx,
                                     const GridExpectations& expectations) {
  SCOPED_TRACE(text);
  auto product = ProductOf(text, ptx, expectations);
  if (!product) return std::nullopt;
  const loops::LoopNest& nest = product->nest;
  gpu::Bytes expected = gpu::SmallContents(nest, {});
  gpu::Bytes actual = expected;
  EXPECT_TRUE(loops::Evaluate(nest, {}, tensor::Pointers(expected)).ok());
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  const Status ran =
      gpu::RunNest(TestDevice(), nest, std::move(product->code), {}, actual);
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest.buffers[i].type, expected[i],
                                            actual[i], expectations.within,
                                            expectations.within),
              "")
        << "%" << nest.buffers[i].name;
  }
  return ProductsSince(before, expectations);
}

void ExpectTf32OnGrid(std::string_view text, std::string* ptx,
                      const GridExpectations& expectations) {
  SCOPED_TRACE(text);
  GridExpectations with_tf32 = expectations;
  with_tf32.features = "+tf32";
  auto product = ProductOf(text, ptx, with_tf32);
  if (!product) return;
  const loops::LoopNest& nest = product->nest;
  gpu::Bytes contents = gpu::SmallContents(nest, {});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> any(-2, 2);
  for (std::vector<uint8_t>& bytes : contents) {
    bytes = Changed(std::move(bytes), [&](uint32_t) {
      return std::bit_cast<uint32_t>(any(random));
    });
  }
  const std::vector<float> cut_off =
      Evaluated(nest, contents, [](uint32_t bits) { return bits & ~0x1fffu; });
  const std::vector<float> whole =
      Evaluated(nest, contents, [](uint32_t bits) { return bits; });
  const std::vector<float> magnitudes = Evaluated(
      nest, contents, [](uint32_t bits) { return bits & 0x7fffffffu; });
  gpu::Bytes actual = contents;
  const Status ran =
      gpu::RunNest(TestDevice(), nest, std::move(product->code), {}, actual);
  ASSERT_TRUE(ran.ok()) << ran.ToString();
  const std::vector<float> results = FloatsOf(actual.back());
  // kOfSums: relative error of a sum of at most 256 products in f32, in any
  // order. kOfFactors: relative error of a product whose two factors are cut
  // off to tf32.
  constexpr float kOfSums = 0x1p-16f, kOfFactors = 2 * 0x1p-10f;
  int64_t rounded = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_NEAR(results[i], cut_off[i], kOfSums * magnitudes[i]) << i;
    ASSERT_NEAR(results[i], whole[i], (kOfFactors + kOfSums) * magnitudes[i])
        << i;
    rounded += std::abs(results[i] - whole[i]) > 2 * kOfSums * magnitudes[i];
  }
  EXPECT_GT(rounded, 0) << "no factor was rounded";
}

}  // namespace ember::jit::ptx

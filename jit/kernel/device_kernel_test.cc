// Compares kernels of devices with the definition of the dispatch: random
// dispatches under random schedules, and through BuildKernel. The devices are
// Vulkan's, and for CUDA a GPU or an emulated grid of threads
// (jit/ptx/testing/device.h).
//
//   EMBER_SEEDS=1000 bazel run -c opt //jit/kernel:device_kernel_test
#include "vm/runtime/kernels/device_kernel.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/iteration_formulas.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/loops/analysis/iterations.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/device.h"
#include "jit/schedule/testing/random_pair.h"
#include "jit/spirv/testing/run_nest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernels/layout.h"

namespace ember::jit {
namespace {

using schedule::RandomPair;
using spirv::TestDevice;
using ::testing::HasSubstr;

// A kind of device that the test runs on, and the function that makes code for
// it.
struct Machine {
  const char* name;
  // returns null if this machine has no such device
  std::shared_ptr<hal::Device> (*device)();
  std::string (*target)();
  StatusOr<gpu::DeviceCode> (*emit)(const loops::LoopNest& nest);
};

// Compiles the nest with lavapipe's limit of iterations: lavapipe silently ends
// longer loops.
StatusOr<gpu::DeviceCode> EmitSpirv(const loops::LoopNest& nest) {
  EMBER_ASSIGN_OR_RETURN(
      const spirv::ModuleCode code,
      spirv::Emit(nest, spirv::TestTarget() + "+iterations65535"));
  return code.ForDevice();
}

std::string GridTarget() { return std::string(ptx::TestDevice()->target()); }

StatusOr<gpu::DeviceCode> EmitForGrid(const loops::LoopNest& nest) {
  return ptx::CompileNest(nest, ptx::Target::Of(GridTarget()), nullptr);
}

constexpr Machine kMachines[] = {
    {"Vulkan", TestDevice, spirv::TestTarget, EmitSpirv},
    {"EmulatedGrid", ptx::TestDevice, GridTarget, EmitForGrid}};

class DeviceKernelRandomTest : public testing::TestWithParam<Machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, DeviceKernelRandomTest,
                         testing::ValuesIn(kMachines),
                         [](const testing::TestParamInfo<Machine>& info)
                             -> std::string { return info.param.name; });

struct Totals {
  int64_t equal = 0;
  int64_t wrong = 0;
  std::map<std::string, int64_t> declined;

  void Print() const {
    std::printf("%lld kernels equal the dispatch\n",
                static_cast<long long>(equal));
    for (const auto& [reason, times] : declined)
      std::printf("%lld declined: %s\n", static_cast<long long>(times),
                  reason.c_str());
  }
};

std::vector<int64_t> Sizes(const std::vector<std::vector<uint8_t>>& buffers) {
  std::vector<int64_t> sizes;
  sizes.reserve(buffers.size());
  for (const std::vector<uint8_t>& buffer : buffers)
    sizes.push_back(static_cast<int64_t>(buffer.size()));
  return sizes;
}

// Runs the pair of dispatch and schedule on the machine. Returns an empty
// string, or a description of the error.
std::string RunPair(const Machine& machine, const RandomPair& pair,
                    const loops::LoopNest& nest, Totals& totals) {
  vm::DeviceKernelDefinition definition;
  auto code = machine.emit(nest);
  if (code.status().code() == StatusCode::kUnimplemented) {
    ++totals.declined[schedule::ReasonClass(code.status().message())];
    return "";
  }
  if (!code.ok()) return code.status().ToString();
  definition.image = gpu::ImageOfNest(nest, *std::move(code));
  if (pair.is_specialised) definition.image.shape = pair.random.parameters;
  definition.device = machine.device();
  const std::vector<std::vector<uint8_t>> inputs = pair.random.MakeBuffers();
  for (size_t i = 0; i < pair.same_memory.size(); ++i) {
    definition.constants.emplace_back();
    if (pair.computation.buffers[i].is_constant)
      definition.constants.back() = inputs[i];
  }
  auto kernel = vm::DeviceKernel::Create(std::move(definition));
  if (!kernel.ok()) return kernel.status().ToString();
  Status status;
  const std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
    status = gpu::RunKernel(*machine.device(), **kernel, pair.random.parameters,
                            buffers, Sizes(inputs));
    return status;
  });
  if (status.message().find(" iterations of an invocation's loops") !=
      std::string_view::npos) {
    ++totals.declined[schedule::ReasonClass(status.message())];
    return "";
  }
  totals.equal += wrong.empty();
  return wrong;
}

// The formulas of an image, which bound the iterations of each phase, give at
// least the number that is counted in the nest, and nearly always exactly that
// number.
TEST(DeviceKernelTest, IterationsAreThoseOfTheNest) {
  const SeedRange seeds = TestSeeds(150);
  int64_t phases = 0, equal = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = schedule::MakeRandomPair(seed);
    const auto nest = schedule::Lower(pair.schedule);
    if (!nest.ok() || !loops::Verify(*nest).ok()) continue;
    vm::KernelImage image = DescribeNest(*nest);
    AddIterations(*nest, image);
    const std::vector<int64_t> parameters = nest->parameters.empty()
                                                ? std::vector<int64_t>()
                                                : pair.random.parameters;
    const auto layout = vm::LayOutKernel(image, parameters, 64);
    if (!layout.ok()) continue;
    size_t number = 0;
    for (const auto* list : {&nest->prologue, &nest->phases}) {
      for (const loops::Phase& phase : *list) {
        const int64_t counted =
            std::min(loops::MostIterations(*nest, phase.body, parameters),
                     kMaxIterations);
        const int64_t said = layout->phase_iterations[number++];
        ASSERT_GE(said, counted)
            << "replay with EMBER_SEED=" << seed << loops::ToText(*nest);
        ++phases;
        equal += said == counted;
      }
    }
  }
  std::printf("%lld of %lld phases have equal bounds\n",
              static_cast<long long>(equal), static_cast<long long>(phases));
  EXPECT_GE(equal * 20, phases * 19);
}

// A kernel with open parameters refuses a call whose loops have more iterations
// than the driver runs. Other calls run completely.
TEST(DeviceKernelTest, IterationsOfACall) {
  if (TestDevice() == nullptr) GTEST_SKIP() << spirv::kNoDevice;
  // Runs a nest that adds x's element once for each iteration of the loops.
  const auto run = [&](const char* loops, int64_t n, int64_t m) {
    const loops::LoopNest nest = spirv::ParseOrDie(
        Concat({"loops @sum<N, M>(%x: input f32[1], %y: output f32[1]) { "
                "phase t < 1 { %y[t] = 0.0 ",
                loops, " } }"}));
    auto code = spirv::Emit(nest, spirv::TestTarget() + "+iterations65535");
    if (!code.ok()) return code.status().ToString();
    auto kernel = vm::DeviceKernel::Create(
        {.image = gpu::ImageOfNest(nest, code->ForDevice()),
         .device = TestDevice()});
    if (!kernel.ok()) return kernel.status().ToString();
    std::vector<float> x(1, 1.0f), y(1);
    std::vector<void*> buffers = {x.data(), y.data()};
    const int64_t parameters[] = {n, m}, bytes[] = {4, 4};
    const Status status =
        spirv::RunKernel(**kernel, parameters, buffers, bytes);
    return status.ok() ? std::to_string(static_cast<int>(y[0]))
                       : status.ToString();
  };
  const auto refusal = [](int64_t iterations) {
    return HasSubstr(Concat({"up to ", iterations,
                             " iterations of an invocation's loops, where the "
                             "driver ends them after 65535"}));
  };
  constexpr char kOne[] = "for i < N { %y[t] += %x[0] }";
  EXPECT_EQ(run(kOne, 65534, 0), "65534");
  EXPECT_THAT(run(kOne, 65535, 0), refusal(65536));
  // The ends of loops count as iterations, too: for m = 1, each iteration of
  // the outer loop counts as three, and the end of the outer loop as two.
  constexpr char kTwo[] = "for i < N { for j < M { %y[t] += %x[0] } }";
  EXPECT_EQ(run(kTwo, 21844, 1), "21844");
  EXPECT_THAT(run(kTwo, 21845, 1), refusal(65537));
  EXPECT_EQ(run(kTwo, 250, 250), "62500");
}

TEST_P(DeviceKernelRandomTest, Schedules) {
  if (GetParam().device() == nullptr) GTEST_SKIP() << spirv::kNoDevice;
  const SeedRange seeds = TestSeeds(24);
  Totals totals;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = schedule::MakeRandomPair(seed);
    auto nest = schedule::Lower(pair.schedule);
    if (!nest.ok() || !loops::Verify(*nest).ok()) {
      // The test jit/schedule/testing:random_schedule_test checks why lowering
      // or the verifier refuses a nest; here the nests are only counted.
      ++totals.declined["not lowered or verified"];
      continue;
    }
    const std::string text = loops::ToText(*nest);
    const std::string wrong = RunPair(GetParam(), pair, *nest, totals);
    if (seeds.is_replay)
      std::printf("%s%s", pair.ToText().c_str(), text.c_str());
    if (wrong.empty()) continue;
    std::printf("wrong: EMBER_SEED=%llu: %s\n",
                static_cast<unsigned long long>(seed),
                wrong.substr(0, 200).c_str());
    // Only the first failure is shown in full; for the others only the seed and
    // the error are printed.
    if (totals.wrong++ == 0) {
      ADD_FAILURE() << "replay with EMBER_SEED=" << seed << ": " << wrong
                    << "\n"
                    << pair.ToText() << text;
    }
  }
  totals.Print();
  if (seeds.is_replay) return;
  // Lower refuses 1 in 10 of 1500 pairs, and the device refuses some. With few
  // pairs this share varies, so the test only expects that more than half of
  // the pairs are compared.
  EXPECT_GT(totals.equal * 2, static_cast<int64_t>(seeds.end - seeds.begin));
}

Compiler& SharedCompiler() {
  static Compiler* const compiler = [] {
    auto created = llvm_ir::NewFullCompiler();
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

TEST_P(DeviceKernelRandomTest, DispatchesThroughBuildKernel) {
  if (GetParam().device() == nullptr) GTEST_SKIP() << spirv::kNoDevice;
  Totals totals;
  const SeedRange seeds = TestSeeds(15, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const tensor::RandomCase random = tensor::MakeRandomCase(seed, {});
    auto expected = random.MakeBuffers();
    const Status wanted = tensor::Evaluate(random.dispatch, random.parameters,
                                           tensor::Pointers(expected), {});
    for (const int tier : {1, 2}) {
      SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed) +
                   ", tier " + std::to_string(tier));
      vm::KernelRequest request;
      request.dispatch = &random.dispatch;
      request.device = GetParam().device();
      request.target = GetParam().target();
      request.tier = tier;
      if (tier == 2) request.parameters = random.parameters;
      KernelReport report;
      auto kernel =
          BuildKernel(request, SharedCompiler(),
                      {.keeps_text = true, .keeps_code_text = true}, &report);
      if (!kernel.ok()) {
        // A kernel may only be declined for a reason of
        // jit/backend/decline_reasons.h.
        ASSERT_EQ(kernel.status().code(), StatusCode::kUnimplemented)
            << kernel.status().ToString() << tensor::Print(random.dispatch);
        ++totals.declined[schedule::ReasonClass(kernel.status().message())];
        continue;
      }
      ASSERT_NE((*kernel)->recorded(), nullptr);
      auto actual = random.MakeBuffers();
      const Status status = gpu::RunKernel(
          *request.device, *(*kernel)->recorded(), random.parameters,
          tensor::Pointers(actual), Sizes(actual));
      ASSERT_EQ(wanted.ok(), status.ok())
          << wanted.ToString() << " / " << status.ToString()
          << tensor::Print(random.dispatch) << report.nest;
      if (!wanted.ok()) continue;
      ASSERT_EQ(tensor::FirstDifference(random, expected, actual), "")
          << tensor::Print(random.dispatch) << report.schedule << report.nest;
      ++totals.equal;
    }
  }
  totals.Print();
  if (seeds.end - seeds.begin < 10) return;
  EXPECT_GT(totals.equal * 10,
            static_cast<int64_t>(seeds.end - seeds.begin) * 9);
}

TEST(DeviceKernelTest, UsesOnlyWhatIsNotPacked) {
  if (TestDevice() == nullptr) GTEST_SKIP() << spirv::kNoDevice;
  auto nest = loops::Parse(R"(
loops @packed(%w: input f32[6, 10], %x: input f32[10], %y: output f32[6]) {
  packed %p: f32[10, 6]
  prologue k < 10 { for i < 6 { %p[k, i] = %w[i, k] } }
  phase i < 6 {
    %y[i] = 0.0
    for k < 10 { %y[i] += %p[k, i] * %x[k] }
  }
})");
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  const std::vector<uint8_t> weights(240);
  const auto kernel = vm::DeviceKernel::Create(
      {.image = gpu::ImageOfNest(*nest, spirv::Emit(*nest)->ForDevice()),
       .device = TestDevice(),
       .constants = {weights, {}}});
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  EXPECT_FALSE((*kernel)->Uses(0));
  EXPECT_TRUE((*kernel)->Uses(1));
  EXPECT_TRUE((*kernel)->Uses(2));
}

// A call whose extents exceed the device's limits is declined when it is
// recorded, since they are not known earlier.
TEST(DeviceKernelTest, LimitsOfTheDevice) {
  if (TestDevice() == nullptr) GTEST_SKIP() << spirv::kNoDevice;
  auto nest = loops::Parse(R"(
loops @large<N>(%x: input i32[N], %y: output i32[N]) {
  phase i < N { %y[i] = %x[i] }
})");
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  const auto kernel = vm::DeviceKernel::Create(
      {.image = gpu::ImageOfNest(*nest, spirv::Emit(*nest)->ForDevice()),
       .device = TestDevice()});
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  const auto list = TestDevice()->CreateCommandList();
  ASSERT_TRUE(list.ok());
  const std::vector<int64_t> parameters = {int64_t{1} << 31};
  const std::vector<hal::BufferRange> ranges(2);
  const Status status =
      (*kernel)->Record({parameters, ranges, **list}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.ToString(), HasSubstr("device-limit"));
}

}  // namespace
}  // namespace ember::jit

// Compares machine code of random dispatches under random schedules with the
// definition of the dispatch.
//
//   EMBER_SEEDS=1000 bazel run -c opt //jit/kernel:random_schedule_test
#include "jit/schedule/testing/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/llvm/compiler.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/testing/random_pair.h"

namespace ember::jit {
namespace {

using schedule::RandomPair;

Compiler& SharedCompiler() {
  static Compiler* const compiler = [] {
    auto created = llvm_ir::NewLlvmCompiler();
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

struct Totals {
  int64_t equal = 0;
  int64_t wrong = 0;
  std::map<std::string, int64_t> declined;
};

// Runs the kernel of a random dispatch under its random schedule. Returns an
// empty string, or a description of the error.
std::string RunKernel(const RandomPair& pair, const loops::LoopNest& nest,
                      uint64_t seed, Totals& totals) {
  auto code = SharedCompiler().Compile(
      nest, {.effort = seed % 3 == 0 ? Effort::kFull : Effort::kFast});
  if (code.status().code() == StatusCode::kUnimplemented) {
    ++totals.declined[schedule::ReasonClass(code.status().message())];
    return "";
  }
  if (!code.ok()) return code.status().ToString();
  vm::KernelImage image = DescribeNest(nest);
  if (pair.is_specialised) image.shape = pair.random.parameters;
  const std::vector<std::vector<uint8_t>> inputs = pair.random.MakeBuffers();
  std::vector<std::span<const uint8_t>> constants(pair.same_memory.size());
  for (size_t i = 0; i < constants.size(); ++i) {
    if (pair.computation.buffers[i].is_constant) constants[i] = inputs[i];
  }
  auto kernel = vm::CpuKernel::Create(DefineKernel(
      std::move(image), *std::move(code), std::move(constants), ""));
  if (!kernel.ok()) return kernel.status().ToString();
  const std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
    SerialRunner runner;
    return (*kernel)->Run({pair.random.parameters, buffers, runner});
  });
  totals.equal += wrong.empty();
  return wrong;
}

// Builds and runs the kernel of a random dispatch and schedule. Returns an
// empty string, or a description of the error. text: gets the nest's text.
std::string Check(const RandomPair& pair, uint64_t seed, std::string& text,
                  Totals& totals) {
  auto nest = schedule::Lower(pair.schedule);
  if (!nest.ok()) {
    ++totals.declined["not lowered"];
    return "";
  }
  text = loops::ToText(*nest);
  if (!loops::Verify(*nest).ok()) {
    // Nests that the verifier refuses are only counted.
    // jit/schedule/testing:random_schedule_test checks why it refuses them.
    ++totals.declined["not verified"];
    return "";
  }
  return RunKernel(pair, *std::move(nest), seed, totals);
}

TEST(RandomSchedules, MachineCodeComputesWhatTheDispatchSays) {
  const SeedRange seeds = TestSeeds(100);
  Totals totals;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = schedule::MakeRandomPair(seed);
    std::string nest;
    const std::string wrong = Check(pair, seed, nest, totals);
    if (seeds.is_replay)
      std::printf("%s%s", pair.ToText().c_str(), nest.c_str());
    if (wrong.empty()) continue;
    std::printf("wrong: EMBER_SEED=%llu: %s\n",
                static_cast<unsigned long long>(seed), wrong.c_str());
    // Only the first failure is shown in full; for the others only the seed and
    // the error are printed.
    if (totals.wrong++ == 0) {
      ADD_FAILURE() << "replay with EMBER_SEED=" << seed << ": " << wrong
                    << "\n"
                    << pair.ToText() << nest;
    }
  }
  std::printf("seeds %llu..%llu: %lld kernels equal the dispatch\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1),
              static_cast<long long>(totals.equal));
  for (const auto& [reason, times] : totals.declined)
    std::printf("%lld declined: %s\n", static_cast<long long>(times),
                reason.c_str());
  if (seeds.is_replay) return;
  EXPECT_GT(totals.equal * 10,
            static_cast<int64_t>(seeds.end - seeds.begin) * 7);
}

}  // namespace
}  // namespace ember::jit

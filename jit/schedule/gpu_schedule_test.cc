// Random dispatches under the default schedules of GPUs: what lowering makes of
// them is a legal nest that computes what the dispatch says, without races.
//
//   PAIRS=10000 bazel run -c opt //jit/schedule:gpu_schedule_test
#include "jit/schedule/gpu_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/lowering.h"
#include "jit/schedule/random_pair.h"
#include "tensor/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

// Devices whose schedules differ: with shared memory of two sizes, and a CPU.
constexpr std::string_view kTargets[] = {
    "vulkan1.3+subgroup32+shared49152+invocations1024",
    "vulkan1.3+subgroup4+shared1024+invocations64+gpu",
    "vulkan1.3+subgroup8+shared32768+invocations1024"};

jit::GpuModel ModelOf(std::string_view target) {
  jit::GpuModel gpu = jit::GpuModel::Of(target);
  // Small, so that what tests can evaluate has several workgroups.
  if (target.ends_with("gpu")) {
    gpu.is_cpu_like = false;
    gpu.workgroup_size = 16;
    gpu.busy_invocations = 64;
    gpu.registers = 24;
  }
  return gpu;
}

// Empty, or what is wrong.
std::string Check(const RandomPair& pair, std::string_view target,
                  uint64_t seed, std::string& text, int& unproved) {
  Schedule schedule(pair.computation);
  const Status chosen = ScheduleForGpu(ModelOf(target), schedule);
  text = schedule.ToText();
  if (!chosen.ok()) return chosen.ToString();
  auto nest = Lower(schedule);
  if (!nest.ok()) return nest.status().ToString();
  text += loops::ToText(*nest);
  const Status verified = loops::Verify(*nest);
  if (!verified.ok()) {
    // Some indices of open extents are beyond proofs of bounds.
    const bool is_unproved =
        verified.message().find("expected a proof of") != std::string::npos;
    if (!is_unproved || pair.parameters.empty()) return verified.ToString();
    text += "// " + verified.ToString() + "\n";
    ++unproved;
  }
  return pair.Compare([&](std::span<void* const> buffers) {
    return loops::Evaluate(
        *nest, pair.parameters, buffers,
        {.seed = seed, .backwards = seed % 3 == 0, .refuse_races = true});
  });
}

TEST(GpuSchedules, ComputeWhatTheDispatchSays) {
  const PairSeeds seeds = SeedsOfPairs(120);
  int wrong = 0, unproved = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = MakeRandomPair(seed);
    for (const std::string_view target : kTargets) {
      std::string text;
      const std::string found = Check(pair, target, seed, text, unproved);
      if (seeds.is_replay)
        std::printf("%s%s", pair.ToText().c_str(), text.c_str());
      if (found.empty()) continue;
      std::printf("wrong: SEED=%llu %s: %s\n",
                  static_cast<unsigned long long>(seed), target.data(),
                  found.c_str());
      // The others are named only.
      if (wrong++ == 0) {
        ADD_FAILURE() << "replay with SEED=" << seed << ": " << target << ": "
                      << found << "\n"
                      << pair.ToText() << text;
      }
    }
  }
  std::printf(
      "seeds %llu..%llu: %d wrong, %d equal without a proof of bounds\n",
      static_cast<unsigned long long>(seeds.begin),
      static_cast<unsigned long long>(seeds.end - 1), wrong, unproved);
  EXPECT_LE(unproved * 100, static_cast<int>(seeds.end - seeds.begin));
}

}  // namespace
}  // namespace ember::schedule

// Tests that schedules from the spaces of GPU targets can be compiled for
// Vulkan and CUDA. No device is needed, because nothing runs; space_test checks
// that the schedules compute the right results.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "base/testing/seeds.h"
#include "jit/backend/object_compiler.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/registry/backends.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "tune/space/space.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

constexpr const char* kTargets[] = {
    "vulkan1.3+subgroup32+shared49152+invocations1024",
    "sm_80+subgroup32+shared101376+invocations1024",
};
constexpr int kSamples = 2;

struct Counts {
  int compiled = 0, declined = 0, with_invocations = 0;
};

// Draws samples from the space of a random dispatch and compiles them.
void CompileSamples(uint64_t seed, const std::string& target,
                    jit::Compiler& compiler, Counts& counts) {
  const tensor::RandomCase random_case =
      schedule::MakeRandomModelDispatch(seed);
  vm::KernelRequest request;
  request.dispatch = &random_case.dispatch;
  request.parameters = random_case.parameters;
  request.target = target;
  const Task task = MakeTask(request);
  const StatusOr<Space> space = Space::Make(task, {});
  if (!space.ok()) return;
  const jit::Backend& backend = jit::BackendFor(target);
  // If even the default schedule cannot be compiled, the device lacks types
  // that the dispatch needs, so no sample is tried.
  if (!backend
           .compile(task.request, space->start().nest, {.compiler = compiler},
                    nullptr)
           .ok()) {
    return;
  }
  Random random(seed);
  for (int i = 0; i < kSamples; ++i) {
    const std::optional<Candidate> sample = space->Sample(random);
    if (!sample) continue;
    const auto code = backend.compile(task.request, sample->nest,
                                      {.compiler = compiler}, nullptr);
    if (code.ok()) {
      ++counts.compiled;
      counts.with_invocations +=
          TextOf(sample->point).find("bind %") != std::string::npos;
      EXPECT_FALSE((*code)->code.bytes.empty());
    } else {
      // Compiling may fail only because the back end declines the schedule, for
      // example if it needs more memory or invocations than the device has.
      EXPECT_EQ(code.status().code(), StatusCode::kUnimplemented)
          << ReplayOf(seed, "//tune/space:device_space_test") << "\n"
          << code.status().ToString() << "\n"
          << TextOf(sample->point);
      ++counts.declined;
    }
  }
}

TEST(DeviceSpace, PointsAreCompiled) {
  const SeedRange seeds = TestSeeds(24);
  auto compiler = jit::llvm_ir::NewFullCompiler();
  ASSERT_TRUE(compiler.ok()) << compiler.status().ToString();
  for (const std::string target : kTargets) {
    Counts counts;
    for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed)
      CompileSamples(seed, target, **compiler, counts);
    std::printf("%s: %d compiled, %d of them with invocations, %d declined\n",
                target.c_str(), counts.compiled, counts.with_invocations,
                counts.declined);
    if (seeds.is_replay) continue;
    EXPECT_GT(counts.compiled, counts.declined);
    EXPECT_GT(counts.with_invocations, 0);
  }
}

}  // namespace
}  // namespace ember::tune

// Compares kernels, from the default schedule to machine code, with the
// definition of the dispatch.
#include "jit/kernel/build_kernel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "hal/cpu/target.h"
#include "jit/kernel/build_nest.h"
#include "jit/kernel/nest_store.h"
#include "jit/llvm/compiler.h"
#include "jit/loops/text/text.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/open_parameter.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::jit {
namespace {

Compiler& SharedCompiler() {
  static Compiler* const compiler = [] {
    auto created = llvm_ir::NewLlvmCompiler();
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

// The largest magnitude of the weights decides how a CPU without VNNI
// multiplies them: weights in -64..64 have a faster instruction. The results
// must be exact for each magnitude.
TEST(BuildKernel, LooksAtWeights) {
  const auto dispatch = tensor::Parse(R"(
    dispatch @product(%a: u8[12, 32], %b: i8[32, 16]) -> (%y: i32[12, 16]) {
      %y[i, j] = sum(k < 32) i32(%a[i, k]) * i32(%b[k, j])
    })");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  for (const int most : {1, 64, 65, 127}) {
    SCOPED_TRACE(most);
    std::vector<uint8_t> a(12 * 32, 255), b(32 * 16);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<uint8_t>(i / 16 % 5 == 4 ? -most : most);
    std::vector<int32_t> expected(12 * 16), found(12 * 16);
    void* pointers[] = {a.data(), b.data(), expected.data()};
    ASSERT_TRUE(tensor::Evaluate(*dispatch, {}, pointers, {}).ok());
    vm::KernelRequest request;
    request.dispatch = &*dispatch;
    request.target = "x86_64-linux+avx2+fma";
    request.tier = 2;
    request.constant_inputs = {false, true};
    request.constant_data = {{}, b};
    KernelReport report;
    const auto kernel =
        BuildKernel(request, SharedCompiler(), {.keeps_text = true}, &report);
    ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
    const bool is_small =
        report.schedule.find("pack %y %b -64..64 ") != std::string::npos;
    EXPECT_EQ(is_small, most <= 64) << report.schedule;
    pointers[2] = found.data();
    SerialRunner runner;
    ASSERT_TRUE(vm::RunOnHost(**kernel, {{}, pointers, runner}).ok());
    EXPECT_EQ(found, expected);
  }
}

// A NestStore must return the nest that BuildNest makes, also if the nest was
// built for another request with an equal dispatch.
TEST(BuildKernel, NestsFromTheStoreAreEqual) {
  const SeedRange seeds = TestSeeds(100);
  NestStore store;
  int built = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
    const schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    vm::KernelRequest request;
    request.dispatch = &pair.random.dispatch;
    request.target = hal::HostTarget();
    request.tier = 2;
    if (seed % 2 == 0) request.parameters = pair.random.parameters;
    double error_growth = 0, stored_growth = 0;
    const auto nest = BuildNest(request, {.has_canonical_names = true}, nullptr,
                                &error_growth);
    for (int i = 0; i < 2; ++i) {
      const auto stored = store.Build(request, {}, &stored_growth);
      ASSERT_EQ(nest.ok(), stored.ok()) << nest.status().ToString();
      if (!nest.ok()) continue;
      ++built;
      EXPECT_EQ(loops::ToText(*nest), loops::ToText(*stored));
      EXPECT_EQ(error_growth, stored_growth);
    }
  }
  EXPECT_GT(built, static_cast<int>(seeds.end - seeds.begin) / 2);
}

// The parameters of the dispatch that stay open: the kernel accepts any value
// of them.
enum class Openness { kAll, kSome, kNone };

TEST(BuildKernel, RandomDispatches) {
  const SeedRange seeds = TestSeeds(150);
  const bool given = seeds.is_replay;
  int built = 0;
  std::map<std::string, int> declined;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    // These random cases may let results overwrite operands. The default
    // schedule replaces the random one, because some random primitives round
    // differently.
    schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    pair.schedule = schedule::Schedule(pair.computation);
    const tensor::RandomCase& random = pair.random;
    for (const Openness openness :
         {Openness::kAll, Openness::kSome, Openness::kNone}) {
      if (openness == Openness::kSome && random.parameters.size() < 2) continue;
      const int tier = openness == Openness::kAll ? 1 : 2;
      SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed) +
                   ", tier " + std::to_string(tier));
      vm::KernelRequest request;
      request.dispatch = &random.dispatch;
      request.target = hal::HostTarget();
      request.tier = tier;
      if (tier == 2) request.parameters = random.parameters;
      if (openness == Openness::kSome) {
        request.parameters[seed % random.parameters.size()] =
            tensor::kOpenParameter;
      }
      KernelReport report;
      auto kernel = BuildKernel(request, SharedCompiler(),
                                {.keeps_text = given}, &report);
      if (given) std::fputs((report.schedule + report.nest).c_str(), stderr);
      if (!kernel.ok()) {
        // A kernel may only be declined for a reason of
        // jit/backend/decline_reasons.h.
        ASSERT_EQ(kernel.status().code(), StatusCode::kUnimplemented)
            << kernel.status().ToString() << tensor::Print(random.dispatch);
        ++declined[kernel.status().ToString().substr(0, 300)];
        continue;
      }
      ++built;
      ASSERT_EQ(pair.Compare([&](std::span<void* const> buffers) {
        SerialRunner runner;
        return vm::RunOnHost(**kernel, {random.parameters, buffers, runner});
      }),
                "")
          << pair.ToText();
    }
  }
  std::printf("%d kernels built\n", built);
  for (const auto& [reason, times] : declined)
    std::printf("%d declined: %s\n", times, reason.c_str());
  EXPECT_GT(built, given ? 0 : 150);
}

}  // namespace
}  // namespace ember::jit

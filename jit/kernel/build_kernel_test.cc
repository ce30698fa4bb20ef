// Kernels, from the default schedule to machine code, against the definition of
// the dispatch.
#include "jit/kernel/build_kernel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "hal/cpu/cpu_target.h"
#include "tensor/evaluator.h"
#include "tensor/random_dispatch.h"
#include "tensor/text.h"

namespace ember::jit {
namespace {

Compiler& SharedCompiler() {
  static Compiler* const compiler = [] {
    auto created = Compiler::Create();
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

TEST(BuildKernel, RandomDispatches) {
  const char* const given = std::getenv("SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 0) : 1;
  const uint64_t count = given ? 1 : 150;
  int built = 0;
  std::map<std::string, int> declined;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const tensor::RandomCase random = tensor::MakeRandomCase(seed, {});
    auto expected = random.MakeBuffers();
    const Status wanted = tensor::Evaluate(random.dispatch, random.parameters,
                                           tensor::Pointers(expected), {});
    for (const int tier : {1, 2}) {
      SCOPED_TRACE("replay with SEED=" + std::to_string(seed) + ", tier " +
                   std::to_string(tier));
      vm::KernelRequest request;
      request.dispatch = &random.dispatch;
      request.target = hal::HostTarget();
      request.tier = tier;
      if (tier == 2) request.parameters = random.parameters;
      KernelReport report;
      report.keep_text = given != nullptr;
      auto kernel = BuildKernel(request, SharedCompiler(), &report);
      if (given) std::fputs((report.schedule + report.nest).c_str(), stderr);
      if (!kernel.ok()) {
        // Only for a reason of the table.
        ASSERT_EQ(kernel.status().code(), StatusCode::kUnimplemented)
            << kernel.status().ToString() << tensor::Print(random.dispatch);
        ++declined[kernel.status().ToString().substr(0, 300)];
        continue;
      }
      ++built;
      auto actual = random.MakeBuffers();
      SerialRunner runner;
      std::vector<void*> pointers = tensor::Pointers(actual);
      const Status status =
          (*kernel)->Run({random.parameters, pointers, runner});
      ASSERT_EQ(wanted.ok(), status.ok())
          << wanted.ToString() << " / " << status.ToString();
      if (!wanted.ok()) continue;
      ASSERT_EQ(tensor::FirstDifference(random, expected, actual), "")
          << tensor::Print(random.dispatch);
    }
  }
  std::printf("%d kernels built\n", built);
  for (const auto& [reason, times] : declined)
    std::printf("%d declined: %s\n", times, reason.c_str());
  EXPECT_GT(built, given ? 0 : 150);
}

}  // namespace
}  // namespace ember::jit

// Tests that the live oracle does not withdraw correct kernels: kernels of
// random dispatches whose results depend on rounding are compared with tier 0.
//
// EMBER_SEED=n replays one dispatch, EMBER_SEEDS=n tries that many.
#include <cstdio>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "hal/cpu/target.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/compiler.h"
#include "jit/oracle/oracle.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::tests {
namespace {

TEST(RandomKernelsTest, RightKernelsStay) {
  const auto compiler = jit::llvm_ir::NewLlvmCompiler();
  ASSERT_TRUE(compiler.ok()) << compiler.status().ToString();
  const SeedRange seeds = TestSeeds(150, 0);
  jit::Oracle oracle({});
  SerialRunner runner;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const tensor::RandomCase c = tensor::MakeRandomCase(seed, {.exact = false});
    vm::KernelRequest request;
    request.dispatch = &c.dispatch;
    request.target = hal::HostTarget();
    request.tier = 1 + static_cast<int>(seed % 2);
    if (request.tier == 2) request.parameters = c.parameters;
    const auto kernel = jit::BuildKernel(request, **compiler);
    if (!kernel.ok()) continue;  // the compiler declined
    const auto plan = vm::Plan::Make(c.dispatch, c.parameters, {});
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    auto zero = c.MakeBuffers(), compiled = c.MakeBuffers();
    const std::vector<void*> want_pointers = tensor::Pointers(zero);
    const std::vector<void*> got_pointers = tensor::Pointers(compiled);
    const Status want_status = (*plan)->Run(want_pointers, runner);
    const Status got_status =
        vm::RunOnHost(**kernel, {c.parameters, got_pointers, runner});
    const size_t count = c.dispatch.input_count();
    const std::vector<const void*> want(want_pointers.begin(),
                                        want_pointers.end());
    const std::vector<const void*> got(got_pointers.begin(),
                                       got_pointers.end());
    const std::string wrong =
        oracle
            .Judge({.dispatch = c.dispatch,
                    .kernel = **kernel,
                    .parameters = c.parameters,
                    .target = request.target,
                    .constant_inputs = {},
                    .inputs = std::span(want).first(count),
                    .want = std::span(want).subspan(count),
                    .got = std::span(got).subspan(count),
                    .shared = {},
                    .want_status = want_status,
                    .got_status = got_status})
            .wrong;
    EXPECT_EQ(wrong, "") << "replay: EMBER_SEED=" << seed
                         << " bazel run //tests/oracle:random_kernels_test\n"
                         << tensor::Print(c.dispatch);
  }
  const jit::OracleTotals totals = oracle.totals();
  EXPECT_GT(totals.calls, seeds.end - seeds.begin > 1 ? 80 : -1);
  std::printf(
      "%lld kernels, %lld compared closely, %lld with results that could not "
      "be judged\n",
      static_cast<long long>(totals.calls),
      static_cast<long long>(totals.suspects),
      static_cast<long long>(totals.untold));
}

}  // namespace
}  // namespace ember::tests

// Checks that default schedules use no primitive whose hardware the target
// lacks (schedule::Needs).
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel/build_nest.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "jit/target/cpu_model.h"
#include "jit/target/gpu_model.h"
#include "tensor/text/text.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {
namespace {

using schedule::Needs;

bool IsDevice(std::string_view target) {
  return target.starts_with("sm_") || target.starts_with("vulkan");
}

// True if the target has the hardware.
bool Has(const std::string& target, Needs needs) {
  switch (needs) {
    case Needs::kNothing:
      return true;
    case Needs::kInvocations:
      return IsDevice(target);
    case Needs::kDots: {
      if (IsDevice(target)) return GpuModel::Of(target).has_dots;
      const CpuModel cpu = CpuModel::Of(target);
      return cpu.has_byte_dots || cpu.has_short_dots ||
             cpu.has_small_byte_dots || cpu.has_bfloat_dots;
    }
    case Needs::kMatrices:
      return IsDevice(target) && !GpuModel::Of(target).matrices.empty();
  }
  return false;
}

// Adds up which hardware the primitives of the default schedule need.
void CheckNeeds(const std::string& target, const tensor::Dispatch& dispatch,
                const std::vector<int64_t>& parameters,
                std::map<Needs, int>& used) {
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.parameters = parameters;
  request.target = target;
  request.tier = 2;
  NestText text;
  if (!BuildNest(request, {}, &text).ok()) return;
  std::istringstream lines(text.schedule);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const auto step = schedule::ParseStep(line);
    ASSERT_TRUE(step.ok()) << line;
    const Needs needs = InfoOf(*step).needs;
    ++used[needs];
    EXPECT_TRUE(Has(target, needs))
        << target << ", @" << dispatch.name << ": " << line;
  }
}

TEST(DefaultSchedules, UseTheHardwareThatTargetsHave) {
  constexpr const char* kTargets[] = {
      "x86_64-linux+sse4.2",
      "x86_64-linux+avx2+fma",
      "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni",
      "vulkan1.2+subgroup32+shared32768",
      "sm_80+subgroup32+shared166912",
      "sm_90a+subgroup32+shared232448"};
  const auto product = tensor::Parse(R"(
    dispatch @halves(%a: f16[256, 256], %b: f16[256, 256]) -> (%y: f32[256, 256]) {
      %y[i, j] = sum(k < 256) f32(%a[i, k]) * f32(%b[k, j])
    })");
  ASSERT_TRUE(product.ok()) << product.status().ToString();
  std::map<Needs, int> used;
  for (const std::string target : kTargets) {
    CheckNeeds(target, *product, {}, used);
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const tensor::RandomCase random = schedule::MakeRandomModelDispatch(seed);
      CheckNeeds(target, random.dispatch, random.parameters, used);
    }
  }
  // The test is complete only if each kind of hardware is needed by some
  // schedule.
  for (const Needs needs :
       {Needs::kNothing, Needs::kInvocations, Needs::kDots, Needs::kMatrices}) {
    EXPECT_GT(used[needs], 0) << static_cast<int>(needs);
  }
}

}  // namespace
}  // namespace ember::jit

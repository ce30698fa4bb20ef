// Tests kernels of dispatches that pass verification but that no compiler would
// write: they are declined for a reason of jit/backend/decline_reasons.h, or
// have the defined results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "hal/cpu/target.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/compiler.h"
#include "tensor/concrete_header.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/hostile_dispatch.h"
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

// Builds the kernel and checks its results. Returns the reason if the kernel is
// declined, otherwise an empty string.
std::string Compare(const tensor::RandomCase& random, int tier,
                    const std::string& where) {
  vm::KernelRequest request;
  request.dispatch = &random.dispatch;
  request.target = hal::HostTarget();
  request.tier = tier;
  if (tier == 2) request.parameters = random.parameters;
  auto kernel = BuildKernel(request, SharedCompiler());
  if (!kernel.ok()) {
    EXPECT_EQ(kernel.status().code(), StatusCode::kUnimplemented)
        << where << kernel.status().ToString();
    return std::string(kernel.status().message());
  }
  std::vector<std::vector<uint8_t>> expected = random.MakeBuffers();
  std::vector<std::vector<uint8_t>> found = random.MakeBuffers();
  const Status defined = tensor::Evaluate(random.dispatch, random.parameters,
                                          tensor::Pointers(expected), {});
  SerialRunner runner;
  const std::vector<void*> pointers = tensor::Pointers(found);
  const Status status =
      vm::RunOnHost(**kernel, {random.parameters, pointers, runner});
  EXPECT_EQ(status.ok(), defined.ok())
      << where << status.ToString() << " / " << defined.ToString();
  if (status.ok() && defined.ok()) {
    EXPECT_EQ(tensor::FirstDifference(random, expected, found), "") << where;
  }
  return "";
}

std::string CompareText(std::string_view text, int tier) {
  tensor::RandomCase random;
  random.dispatch = *tensor::Parse(text);
  return Compare(random, tier, std::string(text));
}

// The terms of an index may wrap around 64 bits. The load must not reach
// another element then: a pad compares the index, not the address.
TEST(HostileKernels, IndexTermsThatWrap) {
  for (int tier : {1, 2}) {
    EXPECT_EQ(CompareText(R"(dispatch @d(%x: f32[4, 4]) -> (%y: f32[8, 16]) {
                %y[i, j] = pad(%x[0, i * 2 + 4611686018427371520], 7.0)
              })",
                          tier),
              "index-term: an index has a term beyond 2^40, and kernels rely "
              "on smaller ones: 4611686018427371520");
    EXPECT_NE(CompareText(R"(dispatch @d(%x: f32[4, 4]) -> (%y: f32[8, 16]) {
                %y[i, j] = pad(%x[0, i * 2 + 2305843009213693952], 7.0) + 1.5
              })",
                          tier),
              "");
    EXPECT_EQ(CompareText(R"(dispatch @d(%x: f32[4, 4]) -> (%y: f32[8, 16]) {
                %y[i, j] = pad(%x[0, i * 2 + 1099511627776], 7.0)
              })",
                          tier),
              "");
  }
}

// Elements of temporaries that no stage stores to read as zeros, even though
// later calls reuse the memory.
TEST(HostileKernels, TemporariesStartAsZeros) {
  for (int tier : {1, 2}) {
    EXPECT_EQ(CompareText(R"(dispatch @d(%x: f32[64]) -> (%y: f32[128]) {
                temp %t: f32[128]
                for (i < 64) %t[i * 2] = %x[i]
                %y[i] = %t[127 - i] + %t[i]
              })",
                          tier),
              "");
  }
}

TEST(HostileKernels, LongChainsStayInterpreted) {
  tensor::RandomCase random;
  random.dispatch = *tensor::Parse(
      "dispatch @d(%x: i8[8]) -> (%y: i8[8]) { %y[i] = neg(%x[i]) }");
  tensor::Dispatch& dispatch = random.dispatch;
  for (int i = 0; i < 50000; ++i) {
    const auto last = static_cast<uint32_t>(dispatch.instructions.size()) - 1;
    dispatch.instructions.push_back(
        {tensor::Opcode::kNegate, DType::kI8, last});
    dispatch.stages[0].values[0] = last + 1;
    dispatch.stages[0].end = last + 2;
    if (i != 1000 && i != 49999) continue;
    EXPECT_TRUE(Compare(random, 2, "chain").starts_with("too-large: "));
  }
}

// True if a stage has more iterations than a test can run. Extents of 0 count
// as 1, since a kernel runs the loops around an empty loop. Sessions limit
// iterations as work (tensor/dispatch_cost.h), but these tests run without a
// session.
bool HasManyIterations(const tensor::RandomCase& random) {
  constexpr double kMax = 1 << 26;
  const auto header =
      tensor::ConcreteHeader::Evaluate(random.dispatch, random.parameters);
  if (!header.ok()) return false;
  for (const tensor::Stage& stage : random.dispatch.stages) {
    double iterations = 1;
    for (const auto* axes : {&stage.spatial, &stage.reduction}) {
      for (const int64_t extent : header->Extents(*axes))
        iterations *= static_cast<double>(std::max<int64_t>(extent, 1));
    }
    if (iterations > kMax) return true;
  }
  return false;
}

TEST(HostileKernels, RandomDispatches) {
  const SeedRange seeds = TestSeeds(60);
  int kernels = 0;
  // number of declined kernels by the reason for declining
  std::map<std::string, int> declined;
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
    const tensor::HostileCase hostile = tensor::MakeHostileCase(seed);
    const std::string where = "replay: EMBER_SEED=" + std::to_string(seed) +
                              " bazel run //jit/kernel:hostile_test\n" +
                              tensor::Print(hostile.random.dispatch);
    // A session never asks for a kernel if evaluating the dispatch's header
    // fails, so such dispatches are left out.
    if (!hostile.is_evaluable || HasManyIterations(hostile.random)) continue;
    for (int tier : {1, 2}) {
      const std::string reason = Compare(hostile.random, tier, where);
      kernels += reason.empty();
      if (!reason.empty()) ++declined[reason.substr(0, reason.find(':'))];
    }
  }
  std::printf("%d kernels\n", kernels);
  for (const auto& [reason, times] : declined)
    std::printf("%d declined: %s\n", times, reason.c_str());
}

}  // namespace
}  // namespace ember::jit

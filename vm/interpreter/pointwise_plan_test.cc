// Tests the small interpreter, PointwiseInterpreter.
//
//   EMBER_SEED=42 bazel run //vm/interpreter:pointwise_plan_test
#include "vm/interpreter/pointwise_plan.h"

#include <cmath>
#include <vector>

#include "base/interrupt.h"
#include "base/memory_budget.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/sum_error.h"
#include "tensor/text/text.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

StatusOr<std::unique_ptr<Plan>> MakePlan(const tensor::Dispatch& dispatch,
                                         std::vector<int64_t> parameters,
                                         const Plan::Options& options = {}) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  return PointwiseInterpreter().MakePlan(dispatch, header, options);
}

tensor::Dispatch Parse(std::string_view text) {
  StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

constexpr char kSum[] = R"(dispatch @sum<n>(%x: f32[n]) -> (%y: f32[]) {
  %y[] = sum(k < n) %x[k]
})";

TEST(PointwisePlanTest, RandomDispatchesMatchTheDefinition) {
  const SeedRange seeds = TestSeeds(300);
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed)
    ExpectRandomCase(seed, 1, {.subnormals = true}, PointwiseInterpreter());
}

// If this interpreter reports that an output is overwritten, the strip
// interpreter, whose analysis is more precise, must report it, too. Most of the
// overwritten outputs must be reported, because memory would otherwise be
// cleared in each run.
TEST(PointwisePlanTest, FactsAreThoseOfStripsOrMoreCareful) {
  int said = 0;
  int of = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const tensor::RandomCase random_case = tensor::MakeRandomCase(seed, {});
    const tensor::Dispatch& dispatch = random_case.dispatch;
    const auto header =
        tensor::ConcreteHeader::Evaluate(dispatch, random_case.parameters);
    if (!header.ok()) continue;
    const auto strips = StripInterpreter().FactsOf(dispatch, *header);
    const auto facts = PointwiseInterpreter().FactsOf(dispatch, *header);
    if (!strips.ok()) continue;
    ASSERT_TRUE(facts.ok()) << facts.status().ToString();
    EXPECT_EQ(facts->required_bytes, strips->required_bytes) << "seed " << seed;
    ASSERT_EQ(facts->overwrites.size(), strips->overwrites.size());
    for (size_t i = 0; i < facts->overwrites.size(); ++i) {
      said += facts->overwrites[i];
      of += strips->overwrites[i];
      if (facts->overwrites[i]) {
        EXPECT_TRUE(strips->overwrites[i])
            << "seed " << seed << ", buffer " << i << "\n"
            << tensor::Print(dispatch);
      }
    }
  }
  EXPECT_GT(2 * said, of);
}

TEST(PointwisePlanTest, LongSumsKeepTheirBound) {
  constexpr int64_t kTerms = 1'000'000;
  const tensor::Dispatch dispatch = Parse(kSum);
  std::vector<float> x(kTerms);
  double exact = 0;
  for (int64_t i = 0; i < kTerms; ++i) {
    x[static_cast<size_t>(i)] = 125.0F + 0.001F * static_cast<float>(i % 977);
    exact += x[static_cast<size_t>(i)];
  }
  float y = 0;
  auto plan = MakePlan(dispatch, {kTerms});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  SerialRunner runner;
  const std::vector<void*> buffers = {x.data(), &y};
  ASSERT_TRUE((*plan)->Run(buffers, runner).ok());
  EXPECT_LE(std::fabs(y - exact),
            tensor::SumErrorBound(kTerms, DType::kF32, exact));
  // The error is at most that of rounding the result once, because the sum
  // itself is computed in f64.
  EXPECT_LE(std::fabs(y - exact), 0x1p-23 * exact);
}

TEST(PointwisePlanTest, AnInterruptEndsIt) {
  const tensor::Dispatch dispatch = Parse(kSum);
  std::vector<float> x(1 << 20);
  float y = 0;
  auto plan = MakePlan(dispatch, {static_cast<int64_t>(x.size())});
  ASSERT_TRUE(plan.ok());
  Interrupt interrupt;
  interrupt.Start();
  interrupt.Cancel();
  SerialRunner runner(&interrupt);
  const std::vector<void*> buffers = {x.data(), &y};
  EXPECT_EQ((*plan)->Run(buffers, runner).code(), StatusCode::kCancelled);
}

// Each point stores a result although its sum has no terms. A file may have any
// number of such points, which all store to the same element, so the interrupt
// must be checked.
TEST(PointwisePlanTest, AnInterruptEndsPointsWithoutTerms) {
  const tensor::Dispatch dispatch =
      Parse(R"(dispatch @nothing<n>(%x: f32[8]) -> (%y: f32[]) {
  %y[] = 0.0
  for (i < n) %y[] += sum(k < 0) %x[k]
})");
  std::vector<float> x(8);
  float y = 0;
  auto plan = MakePlan(dispatch, {1 << 20});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  Interrupt interrupt;
  interrupt.Start();
  interrupt.Cancel();
  SerialRunner runner(&interrupt);
  const std::vector<void*> buffers = {x.data(), &y};
  EXPECT_EQ((*plan)->Run(buffers, runner).code(), StatusCode::kCancelled);
}

class Budget final : public MemoryBudget {
 public:
  Status Charge(int64_t bytes) override {
    if (used + bytes > limit) return ResourceExhaustedError("budget");
    used += bytes;
    return OkStatus();
  }
  void Discharge(int64_t bytes) override { used -= bytes; }
  int64_t limit = 0;
  int64_t used = 0;
};

TEST(PointwisePlanTest, TemporariesAreCharged) {
  const tensor::Dispatch dispatch =
      Parse(R"(dispatch @two<n>(%x: f32[n]) -> (%y: f32[n]) {
  temp %t: f32[n]
  %t[i] = %x[i] * 2.0
  %y[i] = %t[i] + 1.0
})");
  Budget budget;
  Plan::Options options;
  options.budget = &budget;
  budget.limit = 399;
  EXPECT_EQ(MakePlan(dispatch, {100}, options).status().ToString(),
            "RESOURCE_EXHAUSTED: dispatch @two: temporary %t: budget");
  EXPECT_EQ(budget.used, 0);
  budget.limit = 400;
  {
    auto plan = MakePlan(dispatch, {100}, options);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    EXPECT_EQ(budget.used, 400);
    EXPECT_EQ((*plan)->Describe(), "point by point");
  }
  EXPECT_EQ(budget.used, 0);
}

}  // namespace
}  // namespace ember::vm

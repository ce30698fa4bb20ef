// Tests which sums are carried (their accumulators are moved to totals at
// intervals), and with the evaluator of nests that long sums keep their bound
// under random schedules. One term is so large that an accumulator that is not
// carried loses the terms after it.
//
//   EMBER_SEEDS=10000 bazel run -c opt //jit/schedule/lowering:carried_sums_test
#include "jit/schedule/lowering/carried_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/sum_error.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

// 2^24, from which on neighbouring floats are 2 apart: an accumulator with this
// value does not change if 1 is added.
constexpr float kLarge = 0x1p24f;

struct LongSum {
  const char* text;
  std::vector<int64_t> parameters;
  int64_t results = 1;
  int64_t terms = 1;
  // true if the sum has more terms than one accumulator may add up
  bool is_long = true;
};

const LongSum kSums[] = {
    {"dispatch @across(%x: f32[6000, 4]) -> (%y: f32[4]) {\n"
     "  %y[i] = sum(k < 6000) %x[k, i]\n}",
     {},
     4,
     6000},
    {"dispatch @two<M, N>(%x: f32[M, 3, N]) -> (%y: f32[3]) {\n"
     "  %y[i] = sum(j < M, k < N) %x[j, i, k]\n}",
     {7, 900},
     3,
     6300},
    {"dispatch @other<M, N>(%x: f32[M, 3, N]) -> (%y: f32[3]) {\n"
     "  %y[i] = sum(j < M, k < N) %x[j, i, k]\n}",
     {1700, 4},
     3,
     6800},
    {"dispatch @three(%x: f32[13, 2, 31, 17]) -> (%y: f32[2]) {\n"
     "  %y[i] = sum(j < 13, k < 31, l < 17) %x[j, i, k, l]\n}",
     {},
     2,
     6851},
    {"dispatch @fused(%x: f32[5, 1300]) -> (%y: f32[5]) {\n"
     "  temp %s: f32[5]\n"
     "  %s[i] = sum(k < 1300) max(%x[i, k], 0.5)\n"
     "  %y[i] = max(%s[i], 0.0)\n}",
     {},
     5,
     1300},
    {"dispatch @short(%x: f32[1024, 4]) -> (%y: f32[4]) {\n"
     "  %y[i] = sum(k < 1024) %x[k, i]\n}",
     {},
     4,
     1024,
     false},
    {"dispatch @integers(%x: i32[6000, 4]) -> (%y: i32[4]) {\n"
     "  %y[i] = sum(k < 6000) %x[k, i]\n}",
     {},
     4,
     6000,
     false},
};

tensor::Dispatch ParseDispatch(const LongSum& sum) {
  auto dispatch = tensor::Parse(sum.text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

bool Carries(const loops::LoopNest& nest) {
  return loops::ToText(nest).find(".total.") != std::string::npos;
}

// Evaluates the nest on terms of 1, except term number `large`, which is
// kLarge. Returns a description of an error, or "".
std::string Check(const LongSum& sum, const loops::LoopNest& nest,
                  const std::vector<int64_t>& parameters, uint64_t seed,
                  int64_t large) {
  std::vector<float> x(static_cast<size_t>(sum.terms * sum.results), 1.0f);
  x[static_cast<size_t>(large)] = kLarge;
  std::vector<float> y(static_cast<size_t>(sum.results));
  void* const buffers[] = {x.data(), y.data()};
  const Status status = loops::Evaluate(
      nest, parameters, buffers, {.seed = seed, .backwards = seed % 3 == 0});
  if (!status.ok()) return status.ToString();
  const auto terms = static_cast<double>(sum.terms);
  int with_large = 0;
  for (const float found : y) {
    const bool has_large = found > 0x1p20f;
    const double exact = has_large ? terms - 1 + double{kLarge} : terms;
    const double bound = tensor::SumErrorBound(sum.terms, DType::kF32, exact);
    with_large += has_large;
    if (!(std::fabs(static_cast<double>(found) - exact) <= bound)) {
      return "expected " + std::to_string(exact) + " but for " +
             std::to_string(bound) + ", found " + std::to_string(found);
    }
  }
  return with_large == 1 ? "" : "the large element is nowhere, or twice";
}

TEST(CarriedSums, WhereTheyAreNeeded) {
  for (const LongSum& sum : kSums) {
    SCOPED_TRACE(sum.text);
    auto nest = Lower(Schedule(Disassemble(ParseDispatch(sum), {})));
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    EXPECT_EQ(Carries(*nest), sum.is_long) << loops::ToText(*nest);
    EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
  }
}

// Tests which sums the default schedules carry. A sum along memory has sixteen
// accumulators, the lanes of a vector, and needs no carrying. A long loop is
// split, so that its outer loop carries in each iteration.
TEST(CarriedSums, ByTheModel) {
  struct Case {
    const char* dispatch;
    const char* split;  // expected text of the schedule
    bool carries;
    bool has_condition;  // true if the innermost loop has the condition for
                         // carrying
  };
  for (const Case& c :
       {Case{"dispatch @along(%x: f32[1, 16384]) -> (%y: f32[1]) {\n"
             "  %y[i] = sum(k < 16384) %x[i, k]\n}",
             "", false, false},
        Case{"dispatch @across(%x: f32[4096, 16]) -> (%y: f32[16]) {\n"
             "  %y[i] = sum(k < 4096) %x[k, i]\n}",
             "split %y k 1024 -> k_sums k_terms", true, false},
        Case{"dispatch @prime(%x: f32[4093, 16]) -> (%y: f32[16]) {\n"
             "  %y[i] = sum(k < 4093) %x[k, i]\n}",
             "", true, true},
        Case{"dispatch @open<N>(%x: f32[N, 16]) -> (%y: f32[16]) {\n"
             "  %y[i] = sum(k < N) %x[k, i]\n}",
             "", true, true},
        Case{"dispatch @product(%a: f32[64, 3072], %b: f32[3072, 64]) -> "
             "(%y: f32[64, 64]) {\n"
             "  %y[i, j] = sum(k < 3072) %a[i, k] * %b[k, j]\n}",
             "split %y k_steps 256 -> k_steps_sums k_steps_terms", true,
             false}}) {
    SCOPED_TRACE(c.dispatch);
    Schedule schedule(Disassemble(*tensor::Parse(c.dispatch), {}));
    ASSERT_TRUE(
        ScheduleByModel(jit::CpuModel::Of("x86_64-linux+avx512f+fma"), schedule)
            .ok());
    EXPECT_NE(schedule.ToText().find(c.split), std::string::npos)
        << schedule.ToText();
    auto nest = Lower(schedule);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    const std::string text = loops::ToText(*nest);
    EXPECT_EQ(Carries(*nest), c.carries) << text;
    EXPECT_EQ(text.find("if mod(") != std::string::npos, c.has_condition)
        << text;
  }
}

TEST(CarriedSums, RandomSchedules) {
  const SeedRange seeds = TestSeeds(100);
  int compared = 0, refused = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    std::mt19937_64 random(seed);
    const LongSum& sum = kSums[seed % 5];
    const bool is_specialised = random() % 2 == 0;
    std::vector<int64_t> parameters = sum.parameters;
    Schedule schedule(
        Disassemble(ParseDispatch(sum),
                    is_specialised ? parameters : std::vector<int64_t>()));
    if (is_specialised) parameters.clear();
    ApplyRandomPrimitives(seed, 1 + static_cast<int>(random() % 12), schedule);
    auto nest = Lower(schedule);
    if (!nest.ok() || !loops::Verify(*nest).ok()) {
      ++refused;  // random_schedule_test checks the reasons of refusals
      continue;
    }
    if (seeds.is_replay)
      std::printf("%s%s", schedule.ToText().c_str(),
                  loops::ToText(*nest).c_str());
    ++compared;
    const auto large = static_cast<int64_t>(
        random() % static_cast<uint64_t>(random() % 2 == 0
                                             ? sum.results
                                             : sum.results * sum.terms));
    EXPECT_EQ(Check(sum, *nest, parameters, seed, large), "")
        << "replay with EMBER_SEED=" << seed << "\n"
        << sum.text << schedule.ToText() << loops::ToText(*nest);
    if (HasFailure()) break;
  }
  std::printf("%d nests compared, %d refused\n", compared, refused);
  if (seeds.is_replay) return;
  EXPECT_GT(compared * 2, static_cast<int>(seeds.end - seeds.begin));
}

}  // namespace
}  // namespace ember::schedule

// Tests random dispatches under random schedules: lowering gives a legal nest
// that computes the results that the dispatch defines.
//
//   EMBER_SEEDS=10000 bazel run -c opt //jit/schedule/testing:random_schedule_test
#include "jit/schedule/testing/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/random_pair.h"

namespace ember::schedule {
namespace {

struct Totals {
  int64_t equal = 0;
  // number of nests that compute the dispatch's results, but that the verifier
  // refuses because a proof of bounds is missing
  int64_t unproved = 0;
  int64_t not_lowered = 0;  // number of schedules for which Lower returned an
                            // error
  int64_t too_long = 0;     // number of nests that were not evaluated, because
                            // that takes too long
  int64_t wrong = 0;
  RandomScheduleCounts schedules;

  void Print(const SeedRange& seeds) const {
    std::printf(
        "seeds %llu..%llu: %lld nests equal the dispatch, %lld more refused "
        "for want of a proof of bounds (equal, too), %lld refused by Lower, "
        "%lld too long to be evaluated, %lld wrong\n",
        static_cast<unsigned long long>(seeds.begin),
        static_cast<unsigned long long>(seeds.end - 1),
        static_cast<long long>(equal), static_cast<long long>(unproved),
        static_cast<long long>(not_lowered), static_cast<long long>(too_long),
        static_cast<long long>(wrong));
    std::printf("%lld primitives applied, %lld refused\n",
                static_cast<long long>(schedules.applied),
                static_cast<long long>(schedules.refused));
    for (const auto& [primitive, times] : schedules.applied_by_primitive)
      std::printf("  applied %6lld  %s\n", static_cast<long long>(times),
                  primitive.c_str());
    for (const auto& [reason, times] : schedules.reasons)
      std::printf("  refused %6lld  %s\n", static_cast<long long>(times),
                  reason.c_str());
  }
};

// Returns about how many statements the block executes at most. An extent that
// is not constant counts as 20.
double StoresOf(const loops::LoopNest& nest, const loops::Block& block) {
  double stores = 0;
  for (const loops::Statement& statement : block) {
    double times = 1;
    if (statement.kind == loops::Statement::Kind::kFor) {
      const auto extent =
          nest.pool.IntegerConstant(nest.pool[statement.variable].operands[0]);
      times = static_cast<double>(extent.value_or(20));
    }
    stores += times * (1 + StoresOf(nest, statement.body));
  }
  return stores;
}

// True if evaluating the nest takes too long, because loops that were split
// many times run over many points that guards then leave out.
bool IsLong(const loops::LoopNest& nest) {
  double stores = 0;
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) {
      const auto tasks =
          nest.pool.IntegerConstant(nest.pool[phase.task].operands[0]);
      stores +=
          static_cast<double>(tasks.value_or(20)) * StoresOf(nest, phase.body);
    }
  }
  return stores > 3e6;
}

// Checks that each step of the schedule is equal to the step that its text is
// parsed as.
std::string CheckTexts(const Schedule& schedule) {
  for (const auto& step : schedule.steps()) {
    const std::string text = ToText(*step);
    const StatusOr<Step> parsed = ParseStep(text);
    if (!parsed.ok()) return text + ": " + parsed.status().ToString();
    if (std::string again = ToText(*parsed); again != text)
      return text + ": parsed as " + again;
  }
  return "";
}

// Checks that replaying the schedule's text gives the same nest.
std::string CheckReplay(const RandomPair& pair, const std::string& nest) {
  Schedule again(pair.computation);
  const Status replayed = Replay(pair.schedule.ToText(), again);
  if (!replayed.ok()) return "replay: " + replayed.ToString();
  if (again.ToText() != pair.schedule.ToText()) return "replay: another text";
  auto lowered = Lower(again);
  if (!lowered.ok()) return "replay: " + lowered.status().ToString();
  return loops::ToText(*lowered) == nest ? "" : "replay: another nest";
}

// Lowers the pair and checks the nest. Returns a description of an error, or
// "". text: gets the nest's text.
std::string Check(uint64_t seed, const RandomPair& pair, Totals& totals,
                  std::string& text) {
  totals.schedules.Add(pair.counts);
  if (std::string wrong = CheckTexts(pair.schedule); !wrong.empty())
    return wrong;
  auto nest = Lower(pair.schedule);
  if (!nest.ok()) {
    const Status& refused = nest.status();
    if (refused.code() != StatusCode::kFailedPrecondition ||
        refused.message().empty()) {
      return refused.ToString();
    }
    ++totals.not_lowered;
    ++totals.schedules.reasons["Lower: " + ReasonClass(refused.message())];
    return "";
  }
  text = loops::ToText(*nest);
  if (std::string wrong = CheckReplay(pair, text); !wrong.empty()) return wrong;
  const Status verified = loops::Verify(*nest);
  const bool unproved =
      verified.message().find("expected a proof of") != std::string::npos;
  if (!verified.ok() && !unproved) return verified.ToString();
  if (unproved)
    ++totals.schedules.reasons["Verify: " + ReasonClass(verified.message())];
  if (unproved) text += "// " + verified.ToString() + "\n";
  if (IsLong(*nest)) {
    ++totals.too_long;
    return "";
  }
  const std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
    return loops::Evaluate(
        *nest, pair.parameters, buffers,
        {.seed = seed, .backwards = seed % 3 == 0, .refuse_races = true});
  });
  if (wrong.empty()) ++(unproved ? totals.unproved : totals.equal);
  return wrong;
}

TEST(RandomSchedules, ComputeWhatTheDispatchSays) {
  const SeedRange seeds = TestSeeds(500);
  Totals totals;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = MakeRandomPair(seed);
    std::string nest;
    const std::string wrong = Check(seed, pair, totals, nest);
    if (seeds.is_replay)
      std::printf("%s%s", pair.ToText().c_str(), nest.c_str());
    if (seed % 1000 == 0)
      std::fprintf(stderr, "%d pairs\n", static_cast<int>(seed));
    if (wrong.empty()) continue;
    std::printf("wrong: EMBER_SEED=%llu: %s\n",
                static_cast<unsigned long long>(seed), wrong.c_str());
    // The first failure is described. For the others only the seeds are
    // printed.
    if (totals.wrong++ == 0) {
      ADD_FAILURE() << "replay with EMBER_SEED=" << seed << ": " << wrong
                    << "\n"
                    << pair.ToText() << nest;
    }
  }
  totals.Print(seeds);
  if (seeds.is_replay) return;
  // The test's own seeds, which begin at 1, apply each primitive at least once.
  // Other seeds, like those of ./dev nightly, may miss a rare primitive:
  // skip_hidden and online_softmax need an attention, and apply about once in
  // 500 seeds.
  for (const PrimitiveInfo& primitive : Primitives()) {
    if (seeds.begin != 1) break;
    EXPECT_GT(
        totals.schedules.applied_by_primitive[std::string(primitive.name)], 0)
        << primitive.name;
  }
  // More than 70% of the pairs were evaluated and compared.
  EXPECT_GT(totals.equal * 10,
            static_cast<int64_t>(seeds.end - seeds.begin) * 7);
}

}  // namespace
}  // namespace ember::schedule

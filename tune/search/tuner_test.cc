// Tests the search on a simulated machine whose times are computed by a
// formula, so that each run gives the same results.
#include "tune/search/tuner.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/text/text.h"
#include "tune/model/analytic_model.h"
#include "tune/search/strategy.h"
#include "tune/space/space.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

constexpr const char* kTarget =
    "x86_64-linux+avx2+fma+l1=32K+l2=512K+l3=16M+cores=4";

// Counts events.
struct Counts : TunerListener {
  void OnDeclined(size_t task, const std::string& reason) override {
    declined[task] = reason;
  }
  void OnTrial(size_t task, const Tried&, const TrialResult&,
               size_t total) override {
    ++trials[task];
    EXPECT_EQ(total, ++all);
  }
  void OnBest(size_t task, const Point&, double ratio, double) override {
    EXPECT_LT(ratio, best.contains(task) ? best[task] : 1);
    best[task] = ratio;
  }
  std::map<size_t, std::string> declined;
  std::map<size_t, size_t> trials;
  std::map<size_t, double> best;
  size_t all = 0;
};

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    for (
        const char* text : {
            R"(dispatch @gemm(%a: f32[48, 96], %b: f32[96, 80]) -> (%y: f32[48, 80]) {
                  %y[i, j] = sum(k < 96) %a[i, k] * %b[k, j]
                })",
            R"(dispatch @scale(%x: f32[64, 64]) -> (%y: f32[64, 64]) {
                  %y[i, j] = %x[i, j] * 2.0
                })"}) {
      auto parsed = tensor::Parse(text);
      EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
      dispatches_.push_back(
          std::make_unique<tensor::Dispatch>(*std::move(parsed)));
      vm::KernelRequest request;
      request.dispatch = dispatches_.back().get();
      request.target = kTarget;
      tasks_.push_back(MakeTask(request));
    }
  }

  // Returns the time of a schedule on the simulated machine: the analytic
  // model's estimate, times a factor that depends on the schedule's hash and
  // that no model can predict.
  double SecondsOf(size_t task, const std::string& schedule) const {
    const auto space = Space::Make(tasks_[task], {});
    EXPECT_TRUE(space.ok());
    const auto point = ParsePoint(schedule, "");
    EXPECT_TRUE(point.ok());
    const auto candidate =
        schedule.empty() ? space->start() : space->Build(*point);
    EXPECT_TRUE(candidate.ok()) << candidate.status().ToString();
    const double unknown =
        1 + 0.2 * static_cast<double>(candidate->hash % 1000) / 1000;
    return AnalyticModel::Seconds(candidate->features) * unknown;
  }

  Measure MachineMeasure() {
    return [this](std::span<const Trial> trials,
                  const std::function<void(size_t, TrialResult)>& done) {
      for (size_t i = 0; i < trials.size(); ++i) {
        TrialResult result;
        ++measured_;
        if (failing_ > 0 && measured_ % failing_ == 0) {
          result.outcome = Outcome::kCrashed;
        } else {
          result.outcome = Outcome::kMeasured;
          result.seconds = SecondsOf(trials[i].task, trials[i].schedule);
          result.ratio = result.seconds / SecondsOf(trials[i].task, "");
        }
        done(i, std::move(result));
      }
      return OkStatus();
    };
  }

  std::vector<std::unique_ptr<tensor::Dispatch>> dispatches_;
  std::vector<Task> tasks_;
  size_t measured_ = 0;
  // If it is not 0, every trial whose number is a multiple of it crashes.
  size_t failing_ = 0;
};

TEST_F(TunerTest, EveryStrategyStaysWithinItsTrials) {
  tasks_.resize(1);
  for (const std::string_view strategy : StrategyNames()) {
    Counts counts;
    Scorer scorer(nullptr);
    Tuner tuner(tasks_, {.strategy = std::string(strategy), .most_trials = 20},
                MachineMeasure(), scorer, counts);
    ASSERT_TRUE(tuner.Prepare().ok());
    ASSERT_TRUE(tuner.Run().ok());
    EXPECT_EQ(tuner.trials(), 20u) << strategy;
    EXPECT_LE(tuner.rows()[0].ratio, 1) << strategy;
    // The ratio in the row must be the true ratio of the schedule that was
    // kept.
    EXPECT_DOUBLE_EQ(
        tuner.rows()[0].ratio,
        SecondsOf(0, TextOf(tuner.state(0).best())) / SecondsOf(0, ""))
        << strategy;
  }
}

TEST_F(TunerTest, CrashesCostTrialsOnly) {
  failing_ = 3;
  Counts counts;
  Scorer scorer(nullptr);
  Tuner tuner(tasks_, {.most_trials = 24}, MachineMeasure(), scorer, counts);
  ASSERT_TRUE(tuner.Prepare().ok());
  ASSERT_TRUE(tuner.Run().ok());
  EXPECT_EQ(counts.all, 24u);
  for (const Tuner::Row& row : tuner.rows()) EXPECT_LE(row.ratio, 1);
}

// While other programs run, the default may seem to be twice as slow as itself.
// The test's machine reports that ratio, as hopeless if Trial::best permits;
// the task must be searched all the same.
TEST_F(TunerTest, ADefaultThatSeemsSlowIsNotLeftOut) {
  Scorer scorer(nullptr);
  Counts counts;
  const Measure measure =
      [&](std::span<const Trial> trials,
          const std::function<void(size_t, TrialResult)>& done) {
        for (size_t i = 0; i < trials.size(); ++i) {
          TrialResult result;
          result.outcome = trials[i].best * 1.3 < 2 ? Outcome::kHopeless
                                                    : Outcome::kMeasured;
          result.seconds = 1e-3;
          result.ratio = 2;
          done(i, std::move(result));
        }
        return OkStatus();
      };
  Tuner tuner(tasks_, {.most_trials = 1}, measure, scorer, counts);
  ASSERT_TRUE(tuner.Prepare().ok());
  EXPECT_TRUE(counts.declined.empty());
}

TEST_F(TunerTest, TrialsGoWhereTheTimeIs) {
  tasks_[0].calls = 100;
  Counts counts;
  Scorer scorer(nullptr);
  Tuner tuner(tasks_, {.strategy = "random", .most_trials = 40},
              MachineMeasure(), scorer, counts);
  ASSERT_TRUE(tuner.Prepare().ok());
  ASSERT_TRUE(tuner.Run().ok());
  EXPECT_GT(counts.trials[0], counts.trials[1]);
}

TEST_F(TunerTest, SuggestionsAreTriedFirst) {
  Scorer scorer(nullptr);
  Counts counts;
  Tuner first(tasks_, {.most_trials = 24}, MachineMeasure(), scorer, counts);
  ASSERT_TRUE(first.Prepare().ok());
  ASSERT_TRUE(first.Run().ok());
  size_t task = first.rows()[0].ratio < 1 ? 0 : 1;
  ASSERT_LT(first.rows()[task].ratio, 1);
  Counts again;
  Tuner second(tasks_, {.most_trials = 1}, MachineMeasure(), scorer, again);
  ASSERT_TRUE(second.Prepare().ok());
  ASSERT_TRUE(second.Suggest(task, first.state(task).best()).ok());
  EXPECT_FALSE(
      second.Suggest(task, {.steps = {schedule::Unroll{{{"none"}, "i"}}}})
          .ok());
  ASSERT_TRUE(second.Run().ok());
  EXPECT_DOUBLE_EQ(second.rows()[task].ratio, first.rows()[task].ratio);
}

TEST_F(TunerTest, AnUnknownStrategyIsAnError) {
  Counts counts;
  Scorer scorer(nullptr);
  Tuner tuner(tasks_, {.strategy = "evolutoin"}, MachineMeasure(), scorer,
              counts);
  EXPECT_EQ(tuner.Prepare().message(),
            "expected a strategy of draft, evolution, annealing, grid, "
            "random, found 'evolutoin'; did you mean 'evolution'?");
}

}  // namespace
}  // namespace ember::tune

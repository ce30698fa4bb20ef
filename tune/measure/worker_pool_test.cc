// Tests that each crash, hang or death of a worker fails only the trial that it
// was running.
#include "tune/measure/worker_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace ember::tune {
namespace {

using std::chrono::milliseconds;

// Returns the function that runs trials in the tests. It treats the trial's
// schedule as a command, such as "crash" or "hang".
WorkerPool::Serve Obey(const WorkerPool::Locks& locks) {
  return [locks](const Trial& trial) {
    if (trial.schedule == "crash") raise(SIGSEGV);
    if (trial.schedule == "abort") std::abort();
    if (trial.schedule == "exit") _exit(3);
    locks.lock();
    if (trial.schedule == "die with the lock") raise(SIGKILL);
    while (trial.schedule == "hang") {
    }
    while (trial.schedule == "wait") usleep(1000);
    if (trial.schedule == "wait a bit") usleep(500'000);
    locks.unlock();
    TrialResult result;
    result.outcome = Outcome::kMeasured;
    result.ratio = trial.best * 2;
    result.reason = trial.schedule;
    return result;
  };
}

std::vector<TrialResult> RunAll(WorkerPool& pool,
                                const std::vector<std::string>& schedules) {
  std::vector<Trial> trials;
  for (const std::string& schedule : schedules)
    trials.push_back(
        {.task = trials.size(), .schedule = schedule, .best = 0.3});
  std::vector<TrialResult> results(trials.size());
  std::vector<int> times(trials.size());
  const Status status = pool.Run(trials, [&](size_t i, TrialResult result) {
    ++times[i];
    results[i] = std::move(result);
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(times, std::vector<int>(trials.size(), 1));
  return results;
}

TEST(WorkerPool, RunsEachTrialOnce) {
  WorkerPool pool({.workers = 3}, Obey);
  const std::vector<TrialResult> results =
      RunAll(pool, {"a", "b", "c", "d", "e", "f", "g"});
  for (const TrialResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::kMeasured);
    EXPECT_EQ(result.ratio, 0.6);
  }
  EXPECT_EQ(results[6].reason, "g");
  EXPECT_EQ(pool.started(), 3);
}

TEST(WorkerPool, ACrashCostsOneTrial) {
  WorkerPool pool({.workers = 2}, Obey);
  const std::vector<TrialResult> results = RunAll(
      pool, {"a", "crash", "b", "abort", "exit", "die with the lock", "c"});
  EXPECT_EQ(results[1].outcome, Outcome::kCrashed);
  EXPECT_EQ(results[1].reason, "the worker died: Segmentation fault");
  EXPECT_EQ(results[3].reason, "the worker died: Aborted");
  EXPECT_EQ(results[4].reason, "the worker ended with exit status 3");
  EXPECT_EQ(results[5].reason, "the worker died: Killed");
  for (const size_t i : {0, 2, 6})
    EXPECT_EQ(results[i].outcome, Outcome::kMeasured) << i;
}

TEST(WorkerPool, AHangCostsOneTrial) {
  WorkerPool pool({.workers = 2, .most_time = milliseconds(300)}, Obey);
  const std::vector<TrialResult> results = RunAll(pool, {"hang", "a"});
  EXPECT_EQ(results[0].outcome, Outcome::kHung);
  EXPECT_EQ(results[0].reason, "took longer than 300 ms");
  EXPECT_EQ(RunAll(pool, {"b"})[0].outcome, Outcome::kMeasured);
}

// The time limit counts processor time. A trial that only waits, as for a core
// on a busy machine, counts as hung after a longer elapsed time.
TEST(WorkerPool, ATrialThatWaitsHasMoreTime) {
  WorkerPool pool({.workers = 1, .most_time = milliseconds(100)}, Obey);
  const std::vector<TrialResult> results = RunAll(pool, {"wait a bit", "wait"});
  EXPECT_EQ(results[0].outcome, Outcome::kMeasured) << results[0].reason;
  EXPECT_EQ(results[1].outcome, Outcome::kHung);
}

TEST(WorkerPool, StopsWhenAsked) {
  bool stops = false;
  WorkerPool pool({.workers = 1, .should_stop = [&] { return stops; }}, Obey);
  const std::vector<Trial> trials = {{.schedule = "a"}, {.schedule = "hang"}};
  int ended = 0;
  const Status status = pool.Run(trials, [&](size_t, const TrialResult&) {
    ++ended;
    stops = true;
  });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(ended, 1);
  stops = false;
  EXPECT_EQ(RunAll(pool, {"c"})[0].reason, "c");
}

TEST(Trials, AreReadAsTheyWereWritten) {
  const Trial trial{.task = 7,
                    .schedule = "split %y i 4\nunroll %y j\n",
                    .best = 0.1,
                    .is_careful = true};
  const auto read = ReadTrial(WriteTrial(trial));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->task, 7u);
  EXPECT_EQ(read->best, 0.1);
  EXPECT_TRUE(read->is_careful);
  EXPECT_EQ(read->schedule, trial.schedule);
  EXPECT_FALSE(ReadTrial("x\n1\n").ok());
  EXPECT_FALSE(ReadResult("9\n1\n1\n1\n").ok());
  EXPECT_FALSE(ReadResult("").ok());
}

}  // namespace
}  // namespace ember::tune

// Searches the schedules of tasks: proposes candidates, has them measured,
// learns, and keeps what is verified to be faster than the default.
//
//   Tuner tuner(tasks, {.most_trials = 256}, measure, scorer, listener);
//   EMBER_RETURN_IF_ERROR(tuner.Prepare());
//   tuner.Suggest(0, point);                 // from records
//   EMBER_RETURN_IF_ERROR(tuner.Run());
//   tuner.rows()[0].ratio;                   // 0.83 of the default's time
//
// A candidate that was measured as faster is measured again, carefully, three
// times; it is kept if the median is faster than the best one. So at every
// moment the best schedule of each task is at least as good as the default.
//
// How candidates are measured is up to the caller: worker processes
// (tune/measure/worker_pool.h), or a model of a machine in a test. The
// arguments must outlive the tuner. Not thread-safe.
#ifndef EMBER_TUNE_SEARCH_TUNER_H_
#define EMBER_TUNE_SEARCH_TUNER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/measure/trial.h"
#include "tune/search/scorer.h"
#include "tune/search/strategy.h"
#include "tune/search/task_scheduler.h"
#include "tune/search/task_state.h"
#include "tune/space/random.h"
#include "tune/space/space.h"
#include "tune/task/task.h"

namespace ember::tune {

// Runs trials, and calls the function once for each (WorkerPool::Run).
using Measure =
    std::function<Status(std::span<const Trial> trials,
                         const std::function<void(size_t, TrialResult)>& done)>;

// Gets the events of a search.
class TunerListener {
 public:
  virtual ~TunerListener() = default;
  // The default schedule of a task was measured.
  virtual void OnStart(size_t task, double seconds) {}
  // The task is left out, with the reason in one line.
  virtual void OnDeclined(size_t task, const std::string& reason) {}
  // A trial has ended. `total`: the number of trials so far.
  virtual void OnTrial(size_t task, const Tried& tried,
                       const TrialResult& result, size_t total) {}
  // A better schedule of the task was verified.
  virtual void OnBest(size_t task, const Point& point, double ratio,
                      double seconds) {}
};

struct TunerOptions {
  std::string strategy = "draft";
  uint64_t seed = 1;
  // Number of candidates that are measured before the next ones are proposed.
  size_t batch = 8;
  // Limits of the search; 0: none. The trials of Prepare do not count.
  size_t most_trials = 0;
  double most_seconds = 0;
  // A candidate is kept if its verified time is below this part of the best
  // one's: smaller differences are noise.
  double keep = 0.985;
  SpaceOptions space;
};

class Tuner {
 public:
  // The state of a task.
  struct Row {
    double seconds = 0;  // a call with the default schedule
    double ratio = 1;    // verified
    size_t trials = 0;
    std::string declined;  // why the task is left out; empty if it is not
    std::string origin;    // Point::origin of the best schedule
  };

  Tuner(const std::vector<Task>& tasks, TunerOptions options, Measure measure,
        Scorer& scorer, TunerListener& listener);

  // Makes the spaces and measures the default schedules. Errors: an unknown
  // strategy, and those of measuring. A task without a default schedule or
  // kernel is left out.
  Status Prepare();

  // Proposes a schedule for the next trials of a task. One that does not apply
  // is ignored, with the reason.
  Status Suggest(size_t task, const Point& point);
  // Adds a trial of an earlier search, so that it is not repeated, and the
  // model learns from it. One that no longer applies is ignored.
  void Recall(size_t task, Tried tried);

  // Searches until a limit is reached, all spaces are exhausted or measuring
  // is cancelled, which is no error.
  Status Run();

  size_t trials() const { return trials_; }
  double elapsed_seconds() const;
  std::vector<Row> rows() const;
  const TaskState& state(size_t task) const { return states_[slot_[task]]; }
  bool is_declined(size_t task) const { return !rows_[task].declined.empty(); }
  // The time of a run of all tasks with their best schedules, divided by that
  // with the default ones; tasks count with their calls.
  double total_ratio() const;

 private:
  // Teaches the models what Recall has added.
  void LearnRecalled();
  Status RunBatch(size_t active);
  Status MeasureAll(size_t active, std::vector<Candidate>& candidates,
                    std::vector<Tried>& tried);
  Status Verify(size_t active, const Tried& tried);
  bool IsAtEnd() const;

  const std::vector<Task>& tasks_;
  const TunerOptions options_;
  const Measure measure_;
  Scorer& scorer_;
  TunerListener& listener_;
  Random random_;
  std::vector<Row> rows_;  // one per task
  // The tasks that are searched, by their numbers; the following members have
  // an element for each of these.
  std::vector<size_t> active_;
  std::vector<size_t> slot_;  // for each task, its position in active_
  std::deque<Space> spaces_;
  std::vector<TaskState> states_;
  std::vector<std::unique_ptr<Strategy>> strategies_;
  std::vector<std::vector<Candidate>> suggested_;
  std::vector<std::vector<Tried>> recalled_;
  std::optional<TaskScheduler> scheduler_;
  size_t trials_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_TUNER_H_

// Searches for fast schedules of tasks: proposes candidates, has them measured,
// updates its cost models, and keeps schedules that are verified to be faster
// than the default.
//
//   Tuner tuner(tasks, {.most_trials = 256}, measure, scorer, listener);
//   EMBER_RETURN_IF_ERROR(tuner.Prepare());
//   tuner.Suggest(0, point);                 // from records
//   EMBER_RETURN_IF_ERROR(tuner.Run());
//   tuner.rows()[0].ratio;                   // 0.83 of the default's time
//
// A candidate that seems faster than the best schedule is measured again in
// three careful trials; it is kept if their median is faster, too. So at every
// moment the best schedule of each task is at least as fast as the default.
//
// The caller passes the function that measures candidates: with worker
// processes (tune/measure/worker_pool.h), or in tests with a simulated machine.
// The arguments must outlive the tuner. Not thread-safe.
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

// A function of this type runs trials and calls `done` once for each trial with
// its number and result (as WorkerPool::Run does).
using Measure =
    std::function<Status(std::span<const Trial> trials,
                         const std::function<void(size_t, TrialResult)>& done)>;

// Receives the events of a search, for progress and records.
class TunerListener {
 public:
  virtual ~TunerListener() = default;
  // Called when the default schedule of a task was measured; `seconds` is its
  // time.
  virtual void OnStart(size_t task, double seconds) {}
  // Called when a task is left out of the search, with the reason in one line.
  virtual void OnDeclined(size_t task, const std::string& reason) {}
  // Called when a trial has ended. `total` is the number of trials so far.
  virtual void OnTrial(size_t task, const Tried& tried,
                       const TrialResult& result, size_t total) {}
  // Called when a better schedule of the task was verified and kept.
  virtual void OnBest(size_t task, const Point& point, double ratio,
                      double seconds) {}
};

struct TunerOptions {
  std::string strategy = "draft";
  uint64_t seed = 1;
  // Number of candidates that are proposed and measured at once, before the
  // models learn from their times.
  size_t batch = 8;
  // Limits of the whole search; 0 means no limit. Measuring the default
  // schedules does not count as trials.
  size_t most_trials = 0;
  double most_seconds = 0;
  // A candidate replaces the best schedule only if its verified ratio is below
  // `keep` times that schedule's ratio, because smaller differences are noise.
  double keep = 0.985;
  SpaceOptions space;
};

class Tuner {
 public:
  // The result of the search for one task.
  struct Row {
    double seconds = 0;  // time of one call with the default schedule
    double ratio = 1;    // verified
    size_t trials = 0;
    // Reason why the task is left out of the search; empty if it is not.
    std::string declined;
    std::string origin;  // the origin of the best schedule (Point::origin)
  };

  Tuner(const std::vector<Task>& tasks, TunerOptions options, Measure measure,
        Scorer& scorer, TunerListener& listener);

  // Makes the space of each task and measures its default schedule. A task
  // without a default schedule or kernel is left out. Errors: an unknown
  // strategy, and those of the measuring function.
  Status Prepare();

  // Adds a schedule to the task's next trials. Returns an error with the reason
  // if the schedule does not apply to the task; the search then continues
  // without it.
  Status Suggest(size_t task, const Point& point);
  // Adds a trial of an earlier search, so that it is not repeated and the model
  // learns from it. A trial whose schedule no longer applies is ignored.
  void Recall(size_t task, Tried tried);

  // Searches until a limit is reached, all spaces are exhausted, or measuring
  // is cancelled. Cancellation is not an error.
  Status Run();

  size_t trials() const { return trials_; }
  double elapsed_seconds() const;
  std::vector<Row> rows() const;
  const TaskState& state(size_t task) const { return states_[slot_[task]]; }
  bool is_declined(size_t task) const { return !rows_[task].declined.empty(); }
  // Returns the time of a run of all tasks with their best schedules, divided
  // by the time with the default ones. Each task counts as often as it is
  // called (Task::calls).
  double total_ratio() const;

 private:
  // Updates the cost models and states with the trials that Recall has added.
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
  // Numbers of the tasks that are searched, that is, not left out. The
  // following members have one element for each of these tasks, except for
  // slot_.
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

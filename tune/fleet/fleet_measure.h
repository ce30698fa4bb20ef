// Measures the trials of a tuner by sending them to workers on other machines.
//
//   FleetMeasure fleet(tasks, queue, {});
//   Tuner tuner(tasks, options, fleet.function(), scorer, log);
//
// Answers come from other machines and are checked: if an answer is no result,
// or has impossible numbers, its trial counts as kCrashed. An answer to a job
// that is unknown or already answered is ignored. Jobs that no worker took are
// withdrawn at the end. The arguments must outlive the object. Not thread-safe.
#ifndef EMBER_TUNE_FLEET_FLEET_MEASURE_H_
#define EMBER_TUNE_FLEET_FLEET_MEASURE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/fleet/job_queue.h"
#include "tune/measure/trial.h"
#include "tune/task/task.h"

namespace ember::tune {

struct FleetOptions {
  // `should_stop` is called several times a second; if it returns true, Run
  // returns early with kCancelled. It may be empty.
  std::function<bool()> should_stop;
  // This function receives lines for the user, such as the warning that no
  // worker answers. It may be empty.
  std::function<void(const std::string&)> notice;
  // Seconds without an answer from any worker: after `first_notice` the user
  // gets the first warning, after `most_silence` Run gives up.
  std::chrono::seconds first_notice{20};
  std::chrono::seconds most_silence{600};
};

class FleetMeasure {
 public:
  FleetMeasure(const std::vector<Task>& tasks, JobQueue& queue,
               FleetOptions options);
  ~FleetMeasure();
  FleetMeasure(const FleetMeasure&) = delete;
  FleetMeasure& operator=(const FleetMeasure&) = delete;

  // Runs all trials and calls `done` for each, as WorkerPool::Run does. Errors:
  // kCancelled; the errors of the queue; no worker answered for most_silence.
  Status Run(std::span<const Trial> trials,
             const std::function<void(size_t, TrialResult)>& done);

  const std::string& session() const { return session_; }

 private:
  // Submits a trial. If the trial's task cannot be sent, calls `done` with the
  // reason and returns false.
  StatusOr<bool> Submit(const Trial& trial, size_t number,
                        const std::function<void(size_t, TrialResult)>& done);
  void Take(const Answer& answer,
            const std::function<void(size_t, TrialResult)>& done);
  void WithdrawAll();

  const std::vector<Task>& tasks_;
  JobQueue& queue_;
  const FleetOptions options_;
  const std::string session_;
  // For each task, the name of its text in the queue; empty if it is not sent
  // yet.
  std::vector<std::string> names_;
  // Numbers of the unanswered trials, by the ids of their jobs.
  std::map<std::string, size_t> pending_;
  size_t submitted_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FLEET_MEASURE_H_

// Measures the trials of a tuner with workers on other machines.
//
//   FleetMeasure fleet(tasks, queue, {});
//   Tuner tuner(tasks, options, fleet.function(), scorer, log);
//
// Answers come from other machines: an answer that is no result, or has
// impossible numbers, costs its trial (kCrashed); one to an unknown or an
// answered id is ignored. Jobs that no worker took are withdrawn at the end.
// The arguments must outlive the object. Not thread-safe.
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
  // Asked several times a second; if it returns true, Run returns early with
  // kCancelled. May be empty.
  std::function<bool()> should_stop;
  // Gets a line for the user, such as that no worker answers. May be empty.
  std::function<void(const std::string&)> notice;
  // The first notice that no worker answers, and the end of waiting.
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

  // Runs all trials, as WorkerPool::Run. Errors: kCancelled; the queue's; no
  // worker answered in most_silence.
  Status Run(std::span<const Trial> trials,
             const std::function<void(size_t, TrialResult)>& done);

  const std::string& session() const { return session_; }

 private:
  // Submits a trial. Returns false if the task cannot be sent, which `done` was
  // called with.
  StatusOr<bool> Submit(const Trial& trial, size_t number,
                        const std::function<void(size_t, TrialResult)>& done);
  void Take(const Answer& answer,
            const std::function<void(size_t, TrialResult)>& done);
  void WithdrawAll();

  const std::vector<Task>& tasks_;
  JobQueue& queue_;
  const FleetOptions options_;
  const std::string session_;
  std::vector<std::string> names_;         // one per task; empty: not sent yet
  std::map<std::string, size_t> pending_;  // the trials' numbers by their ids
  size_t submitted_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FLEET_MEASURE_H_

// A worker of a fleet: takes trials from a queue, runs them in processes of its
// own and answers.
//
//   FleetWorker worker(queue, {.target = hal::HostTarget(), .workers = 2},
//                      [](const std::vector<Task>& tasks) {
//                        return MakeBenchServe(tasks, l2_bytes);
//                      });
//   EMBER_RETURN_IF_ERROR(worker.Serve());
//
// A job that cannot be read, or whose target is not the worker's, is answered
// with a refusal. A job that was lost with kMaxLost workers is not tried again.
// A crash or a hang of a candidate ends a process of the pool
// (tune/measure/worker_pool.h), not the worker. The queue must outlive the
// worker. Not thread-safe.
#ifndef EMBER_TUNE_FLEET_FLEET_WORKER_H_
#define EMBER_TUNE_FLEET_FLEET_WORKER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/fleet/job_queue.h"
#include "tune/fleet/messages.h"
#include "tune/measure/worker_pool.h"
#include "tune/task/task.h"

namespace ember::tune {

// Number of workers that a job may take with it before it counts as crashed.
inline constexpr int kMaxLost = 2;

struct FleetWorkerOptions {
  std::string target;  // the trials of this target are taken
  int workers = 2;     // processes
  std::chrono::milliseconds most_time{20'000};  // the limit of a trial
  // Serve ends after this time without a job; 0: never.
  std::chrono::seconds idle{0};
  // Asked several times a second; Serve ends if it returns true. May be empty.
  std::function<bool()> should_stop;
  // Gets a line for the user. May be empty.
  std::function<void(const std::string&)> notice;
};

class FleetWorker {
 public:
  // Makes the function that a process of the pool calls (WorkerPool::MakeServe)
  // for these tasks.
  using MakeServeFor =
      std::function<WorkerPool::MakeServe(const std::vector<Task>& tasks)>;

  FleetWorker(JobQueue& queue, FleetWorkerOptions options,
              MakeServeFor make_serve);
  ~FleetWorker();
  FleetWorker(const FleetWorker&) = delete;
  FleetWorker& operator=(const FleetWorker&) = delete;

  // Serves until it is asked to stop or idle for too long. Errors: the queue's.
  Status Serve();

  // Number of trials that were answered.
  int64_t answered() const { return answered_; }

 private:
  bool ShouldStop() const {
    return options_.should_stop && options_.should_stop();
  }
  // Returns the jobs that are there, one for each process. A job that was lost
  // with another worker is alone, because it may take the others with it.
  StatusOr<std::vector<Job>> TakeJobs(std::chrono::milliseconds patience);
  // Reads a job and finds its task. Errors are the answer's reason.
  StatusOr<Trial> Prepare(const Job& job);
  StatusOr<size_t> FindTask(const std::string& name);
  Status RunJobs(const std::vector<Job>& jobs);
  Status Refuse(const Job& job, Outcome outcome, const std::string& reason);
  // Renews the leases of the jobs, at most once per period.
  void Extend(const std::vector<Job>& jobs);

  JobQueue& queue_;
  const FleetWorkerOptions options_;
  const MakeServeFor make_serve_;
  std::vector<Task> tasks_;
  std::map<std::string, size_t> names_;  // the tasks' numbers by their names
  // Processes of the pool know the tasks of its start, so a new task makes a
  // new pool.
  std::unique_ptr<WorkerPool> pool_;
  std::vector<Job> running_;  // without those that were answered
  std::optional<Job> alone_;  // the next job, which runs alone
  std::chrono::steady_clock::time_point last_extension_;
  int64_t answered_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FLEET_WORKER_H_

// A worker of a fleet: takes trials from a queue, runs them in its own pool of
// processes and sends the results back.
//
//   FleetWorker worker(queue, {.target = hal::HostTarget(), .workers = 2},
//                      [](const std::vector<Task>& tasks) {
//                        return MakeBenchServe(tasks, l2_bytes);
//                      });
//   EMBER_RETURN_IF_ERROR(worker.Serve());
//
// A job that cannot be read, or whose target is not the worker's, is answered
// with a refusal. A job whose last kMaxLost workers never answered is not tried
// again. A crash or a hang of a candidate ends a process of the pool
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

// Number of workers that may be lost while they run a job. A job that reaches
// this number counts as crashed and is not run again.
inline constexpr int kMaxLost = 2;

struct FleetWorkerOptions {
  std::string target;  // the target whose trials this worker takes
  int workers = 2;     // processes
  // largest processor time of a trial (PoolOptions::most_time)
  std::chrono::milliseconds most_time{20'000};
  // Serve ends if there was no job for this time; 0 means that it never ends
  // for this reason.
  std::chrono::seconds idle{0};
  // `should_stop` is called several times a second; Serve ends when it returns
  // true. It may be empty.
  std::function<bool()> should_stop;
  // This function receives lines for the user, such as the reason why a job was
  // refused. It may be empty.
  std::function<void(const std::string&)> notice;
};

class FleetWorker {
 public:
  // A function of this type makes, for a list of tasks, the function that each
  // process of the pool calls when it starts (WorkerPool::MakeServe).
  using MakeServeFor =
      std::function<WorkerPool::MakeServe(const std::vector<Task>& tasks)>;

  FleetWorker(JobQueue& queue, FleetWorkerOptions options,
              MakeServeFor make_serve);
  ~FleetWorker();
  FleetWorker(const FleetWorker&) = delete;
  FleetWorker& operator=(const FleetWorker&) = delete;

  // Takes and runs jobs until should_stop returns true or there was no job for
  // `idle`. Errors: those of the queue.
  Status Serve();

  // Number of trials whose results were sent so far.
  int64_t answered() const { return answered_; }

 private:
  bool ShouldStop() const {
    return options_.should_stop && options_.should_stop();
  }
  // Takes as many jobs as the pool has processes, or fewer if there are no
  // more. A job whose earlier worker was lost is returned alone: if it kills
  // this worker too, no other job is lost with it.
  StatusOr<std::vector<Job>> TakeJobs(std::chrono::milliseconds patience);
  // Parses a job's message and finds its task. The message of an error is sent
  // as the answer's reason.
  StatusOr<Trial> Prepare(const Job& job);
  StatusOr<size_t> FindTask(const std::string& name);
  Status RunJobs(const std::vector<Job>& jobs);
  Status Refuse(const Job& job, Outcome outcome, const std::string& reason);
  // Renews the leases of the jobs, at most once per kPeriod.
  void Extend(const std::vector<Job>& jobs);

  JobQueue& queue_;
  const FleetWorkerOptions options_;
  const MakeServeFor make_serve_;
  std::vector<Task> tasks_;
  // Positions in tasks_, by the names of the tasks' texts.
  std::map<std::string, size_t> names_;
  // The pool's processes know only the tasks that existed when the pool
  // started, so a new task requires a new pool. Null: the pool is made with the
  // next jobs.
  std::unique_ptr<WorkerPool> pool_;
  std::vector<Job> running_;  // jobs that are being run and have no answer yet
  // The job that runs next, without others, because an earlier worker was lost
  // with it.
  std::optional<Job> alone_;
  std::chrono::steady_clock::time_point last_extension_;
  int64_t answered_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FLEET_WORKER_H_

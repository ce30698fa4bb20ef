// A pool of worker processes that run trials. If a candidate crashes or hangs,
// only its trial is lost, and a new worker replaces the one that died.
//
//   WorkerPool pool({.workers = 2}, [&](const WorkerPool::Locks& locks) {
//     auto bench = std::make_shared<Bench>(tasks, make_kernel,
//                                          BenchOptions{.lock = locks.lock, ...});
//     return [bench](const Trial& trial) { return bench->Run(trial); };
//   });
//   EMBER_RETURN_IF_ERROR(pool.Run(trials, [&](size_t i, TrialResult result) {
//     ...
//   }));
//
// Workers are forked from the calling process, so they share its tasks without
// copies; MakeServe makes everything else after the fork. Several workers may
// compile at once, but a lock allows only one at a time to measure. If a worker
// dies while it has the lock, the lock is freed. Workers are killed when the
// pool or its process ends.
//
// The process may have other threads, but these must not hold locks that a
// worker needs (those of LLVM, say) while Run forks. Not thread-safe.
#ifndef EMBER_TUNE_MEASURE_WORKER_POOL_H_
#define EMBER_TUNE_MEASURE_WORKER_POOL_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "tune/measure/trial.h"

namespace ember::tune {

// See PoolOptions::most_time.
inline constexpr int kMaxWait = 10;

struct PoolOptions {
  int workers = 2;
  // Largest processor time of a trial. A worker whose trial takes more is
  // killed (kHung). The limit of elapsed time is kMaxWait times as large,
  // because on a busy machine a trial may wait for a core.
  std::chrono::milliseconds most_time{20'000};
  // `should_stop` is called several times a second; if it returns true, Run
  // returns early with kCancelled. It may be empty.
  std::function<bool()> should_stop;
};

class WorkerPool {
 public:
  // Functions that a worker calls around each measurement, so that only one
  // worker measures at a time.
  struct Locks {
    std::function<void()> lock, unlock;
  };
  using Serve = std::function<TrialResult(const Trial&)>;
  // A function of this type is called once in each new worker process. It
  // returns the function that runs the worker's trials.
  using MakeServe = std::function<Serve(const Locks&)>;

  WorkerPool(PoolOptions options, MakeServe make_serve);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs all trials. Calls done(i, result) once for each trial, as soon as it
  // has ended; `i` is its position in `trials`. Errors: kCancelled; a worker
  // cannot be started.
  Status Run(std::span<const Trial> trials,
             const std::function<void(size_t, TrialResult)>& done);

  // Number of worker processes that have been started so far, replacements
  // included.
  int started() const { return started_; }

 private:
  class TimingLock;
  struct Worker {
    pid_t process = -1;
    FileDescriptor socket;
    // Position in `trials` of the trial that the worker runs; -1: it is idle.
    int trial = -1;
    std::chrono::steady_clock::time_point start;
    // Processor time that the worker had used when the trial began.
    std::chrono::nanoseconds used_before{0};
  };

  // True if the worker's trial has exceeded its time limit.
  bool IsHung(const Worker& worker) const;

  Status Start(Worker& worker);
  void Kill(Worker& worker);
  [[noreturn]] void RunWorker(int socket, pid_t parent);
  // Receives the result of the worker's trial. If the worker has died, the
  // result is kCrashed and the worker is replaced.
  void Receive(Worker& worker,
               const std::function<void(size_t, TrialResult)>& done);

  const PoolOptions options_;
  const MakeServe make_serve_;
  std::unique_ptr<TimingLock> lock_;
  std::vector<Worker> workers_;
  int started_ = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_WORKER_POOL_H_

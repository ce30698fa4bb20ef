// Worker processes that run trials. A crash, a hang or a wrong result costs one
// trial, and the worker is replaced.
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
// Workers are forked from the calling process, so they see its tasks without
// copies, and make everything else after the fork. Several of them compile at
// once, but a lock lets one at a time measure; a worker that dies with the lock
// frees it. Workers are killed when the pool or its process ends.
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
  // A trial that takes more processor time is killed: kHung. So is one that
  // takes kMaxWait times as long by the clock, because a busy machine makes
  // trials wait for a core.
  std::chrono::milliseconds most_time{20'000};
  // Asked several times a second; if it returns true, Run returns early with
  // kCancelled. May be empty.
  std::function<bool()> should_stop;
};

class WorkerPool {
 public:
  // The functions lock and unlock the measurement. A worker calls them.
  struct Locks {
    std::function<void()> lock, unlock;
  };
  using Serve = std::function<TrialResult(const Trial&)>;
  // Called in each new worker process, once.
  using MakeServe = std::function<Serve(const Locks&)>;

  WorkerPool(PoolOptions options, MakeServe make_serve);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs all trials. Calls done(i, result) once for trial number i, in the
  // order in which they end. Errors: kCancelled; workers cannot be started.
  Status Run(std::span<const Trial> trials,
             const std::function<void(size_t, TrialResult)>& done);

  // Number of workers that were started so far.
  int started() const { return started_; }

 private:
  class TimingLock;
  struct Worker {
    pid_t process = -1;
    FileDescriptor socket;
    int trial = -1;  // number of the trial that it runs; -1: it is idle
    std::chrono::steady_clock::time_point start;
    std::chrono::nanoseconds used_before{0};  // processor time at the start
  };

  // True if the worker's trial takes too long.
  bool IsHung(const Worker& worker) const;

  Status Start(Worker& worker);
  void Kill(Worker& worker);
  [[noreturn]] void RunWorker(int socket, pid_t parent);
  // Takes the worker's answer, or replaces a worker that died.
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

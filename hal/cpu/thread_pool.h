// Persistent threads for ParallelRunner. The caller takes part, chunks are
// claimed one by one, and idle workers spin for some microseconds before they
// sleep, so that a chain of short dispatches does not pay for waking threads.
//
//   ThreadPool pool(2);   // the caller and one thread; ThreadPool(1) makes
//                         // none
//   pool.Run(8, [&](int64_t chunk, int worker) { ... });
//
// A pool with a thread for each core keeps its threads off the core that the
// caller runs on: their affinity is the pool's to set, within what the thread
// that made it had, and what others set while it lives is lost at the next
// call. Such a pool pauses for what runs in the background (LeaveToBackground);
// with fewer threads there is a core for that. One of its threads lets that go
// on whenever it sleeps, and stops it when it wakes: a thread of the lowest
// priority that waits for a core gets it for a scheduler's tick (4 ms, often)
// now and then.
//
// Thread-safety: Run may be called from several threads; while the pool is busy
// with one call, others run their chunks alone, on their own thread.
#ifndef EMBER_HAL_CPU_THREAD_POOL_H_
#define EMBER_HAL_CPU_THREAD_POOL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/core_set.h"
#include "base/parallel.h"

namespace ember::hal {

class ThreadPool final : public ParallelRunner {
 public:
  // threads: those that compute, the caller's included; 0: one per core.
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int worker_count() const override { return worker_count_; }
  void Run(int64_t chunk_count, ChunkFunction function) override;
  void LeaveToBackground(double share, int64_t pause_ns,
                         const std::shared_ptr<BackgroundWork>& work) override;

  // How many threads sleep until there is a job.
  int sleepers() const { return sleepers_.load(); }
  // How often one has gone to sleep so.
  int64_t sleeps() const { return sleeps_.load(); }

 private:
  class Keeper;

  // Until condition() holds, or it has waited for that long; whether it held.
  template <typename Condition>
  static bool Spin(const Condition& condition, std::chrono::nanoseconds time);
  std::chrono::nanoseconds SpinTime() const;
  void WorkerLoop(int worker);
  // Sleeps or spins until there is a job after `seen`; its number.
  uint32_t AwaitJob(uint32_t seen, Keeper& keeper);
  // Claims and runs chunks of a job until none is left.
  void RunChunks(uint32_t job, int worker);
  void RunJob(int64_t chunk_count, const ChunkFunction& function);
  void AwaitCompletion(uint32_t chunk_count);
  // The calling thread has a core of its own; with run_mutex_.
  void KeepOffCallersCore();
  // For one thread of the pool, between jobs: how long it is to pause now, as
  // it will; 0: not.
  std::chrono::nanoseconds DuePause();

  const CoreSet cores_ = CoreSet::OfThisThread();
  const int worker_count_;
  const bool takes_all_cores_;
  std::mutex run_mutex_;  // held by the caller whose job it is
  int callers_core_ = -1;
  // Nanoseconds: from the start of one pause to that of the next, 0: there are
  // none; how long they are; when the last one began.
  std::atomic<int64_t> pause_period_{0};
  std::atomic<int64_t> pause_{0};
  std::atomic<int64_t> last_pause_{0};
  std::mutex background_mutex_;  // guards background_
  std::shared_ptr<BackgroundWork> background_;

  // Number of the job in the upper, next chunk in the lower half: a worker that
  // is late cannot claim a chunk of a job that it has not read.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<const ChunkFunction*> function_{nullptr};
  std::atomic<uint32_t> chunk_count_{0};
  // Padding keeps what different threads write on cache lines of their own.
  char padding_before_completed_[64];
  std::atomic<uint32_t> completed_{0};
  std::atomic<bool> caller_sleeps_{false};
  char padding_before_job_[64];
  std::atomic<uint32_t> job_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<int64_t> sleeps_{0};
  std::atomic<bool> stop_{false};

  std::vector<std::thread> threads_;  // last: they use what is above
};

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_THREAD_POOL_H_

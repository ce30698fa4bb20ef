// A pool of persistent threads that implements ParallelRunner. The caller's
// thread computes too, chunks are claimed one by one, and idle workers spin for
// some microseconds before they sleep, so that a chain of short dispatches does
// not pay for waking threads.
//
//   ThreadPool pool(2);   // the caller and one thread; ThreadPool(1) makes
//                         // none
//   pool.Run(8, [&](int64_t chunk, int worker) { ... });
//
// Thread-safety: Run may be called from several threads; while the pool is busy
// with one call, any other call runs its chunks on its caller's thread only.
#ifndef EMBER_HAL_CPU_THREAD_POOL_H_
#define EMBER_HAL_CPU_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.h"

namespace ember::hal {

class ThreadPool final : public ParallelRunner {
 public:
  // Starts the threads. `threads` is the number of threads that compute,
  // including the caller's; 0 means one per core.
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int worker_count() const override { return worker_count_; }
  void Run(int64_t chunk_count, ChunkFunction function) override;

  // Returns the number of threads of the pool that currently sleep because
  // there is no job.
  int sleepers() const { return sleepers_.load(); }
  // Returns how many times threads of the pool have gone to sleep so far.
  int64_t sleeps() const { return sleeps_.load(); }

 private:
  // Spins until condition() is true or the time limit is reached. Returns true
  // if the condition was true.
  template <typename Condition>
  static bool Spin(const Condition& condition);
  void WorkerLoop(int worker);
  // Waits until there is a job with a number other than `seen`, spinning first
  // and then sleeping. Returns the job's number.
  uint32_t AwaitJob(uint32_t seen);
  // Claims chunks of the job with this number, one at a time, and runs them
  // until none is left.
  void RunChunks(uint32_t job, int worker);
  void RunJob(int64_t chunk_count, const ChunkFunction& function);
  void AwaitCompletion(uint32_t chunk_count);

  const int worker_count_;
  // While a job runs, the thread that called Run holds this mutex; another
  // caller that finds it locked runs its chunks alone.
  std::mutex run_mutex_;

  // Ticket for the next chunk: the upper half is the number of the job, the
  // lower half the number of its next chunk. Because the job's number is
  // included, a late worker cannot claim a chunk of a job whose fields it has
  // not read.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<const ChunkFunction*> function_{nullptr};
  std::atomic<uint32_t> chunk_count_{0};
  // This padding keeps variables that different threads write on different
  // cache lines.
  [[maybe_unused]] char padding_before_completed_[64];
  std::atomic<uint32_t> completed_{0};
  std::atomic<bool> caller_sleeps_{false};
  [[maybe_unused]] char padding_before_job_[64];
  std::atomic<uint32_t> job_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<int64_t> sleeps_{0};
  std::atomic<bool> stop_{false};

  // The threads are declared last, so that they start after, and end before,
  // all members that they use.
  std::vector<std::thread> threads_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_THREAD_POOL_H_

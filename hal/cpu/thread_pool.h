// Persistent threads for ParallelRunner. The caller takes part, chunks are
// claimed one by one, and idle workers spin for some microseconds before they
// sleep, so that a chain of short dispatches does not pay for waking threads.
//
//   ThreadPool pool(2);   // the caller and one thread; ThreadPool(1) makes
//                         // none
//   pool.Run(8, [&](int64_t chunk, int worker) { ... });
//
// Thread-safety: Run may be called from several threads; while the pool is busy
// with one call, others run their chunks alone, on their own thread.
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

  // Returns the number of threads that sleep until there is a job.
  int sleepers() const { return sleepers_.load(); }
  // Returns how often a thread has gone to sleep.
  int64_t sleeps() const { return sleeps_.load(); }

 private:
  // Spins until condition() holds or a time limit is over; returns true if it
  // held.
  template <typename Condition>
  static bool Spin(const Condition& condition);
  void WorkerLoop(int worker);
  // Waits, spinning first and then sleeping, until there is a job after job
  // number `seen`; returns the job's number.
  uint32_t AwaitJob(uint32_t seen);
  // Claims and runs chunks of a job until none is left.
  void RunChunks(uint32_t job, int worker);
  void RunJob(int64_t chunk_count, const ChunkFunction& function);
  void AwaitCompletion(uint32_t chunk_count);

  const int worker_count_;
  // held by the thread that called Run, while its job runs
  std::mutex run_mutex_;

  // Ticket for the next chunk. The upper half is the number of the job, the
  // lower half the next chunk. A late worker therefore cannot claim a chunk of
  // a job that it has not read.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<const ChunkFunction*> function_{nullptr};
  std::atomic<uint32_t> chunk_count_{0};
  // Padding keeps variables that different threads write on separate cache
  // lines.
  [[maybe_unused]] char padding_before_completed_[64];
  std::atomic<uint32_t> completed_{0};
  std::atomic<bool> caller_sleeps_{false};
  [[maybe_unused]] char padding_before_job_[64];
  std::atomic<uint32_t> job_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<int64_t> sleeps_{0};
  std::atomic<bool> stop_{false};

  // last member, because the threads use the members above
  std::vector<std::thread> threads_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_THREAD_POOL_H_

#include "hal/cpu/thread_pool.h"

#include <algorithm>
#include <chrono>

#include "base/thread_name.h"

namespace ember::hal {
namespace {

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

// Time for which idle workers spin before they sleep. It is long enough to
// bridge the gap between two dispatches, and short enough not to keep a core
// busy that other programs need.
constexpr std::chrono::microseconds kSpinTime(200);
constexpr int kPausesPerClockRead = 32;

int ResolveThreadCount(int threads) {
  constexpr int kMaxThreads = 1024;
  if (threads <= 0)
    threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(threads, 1, kMaxThreads);
}

constexpr int64_t kMaxChunksPerJob = 1 << 30;
// A chunk number beyond those of any job. While ticket_ has this number, no
// worker can claim a chunk.
constexpr uint32_t kClosed = 0xffffffff;

}  // namespace

ThreadPool::ThreadPool(int threads)
    : worker_count_(ResolveThreadCount(threads)) {
  for (int worker = 1; worker < worker_count_; ++worker) {
    threads_.emplace_back([this, worker] { WorkerLoop(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  job_.fetch_add(1);
  job_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(int64_t chunk_count, ChunkFunction function) {
  if (worker_count_ == 1 || chunk_count <= 1 || !run_mutex_.try_lock()) {
    for (int64_t chunk = 0; chunk < chunk_count; ++chunk) function(chunk, 0);
    return;
  }
  std::lock_guard<std::mutex> lock(run_mutex_, std::adopt_lock);
  if (chunk_count <= kMaxChunksPerJob) return RunJob(chunk_count, function);
  for (int64_t begin = 0; begin < chunk_count; begin += kMaxChunksPerJob) {
    RunJob(std::min(kMaxChunksPerJob, chunk_count - begin),
           [&](int64_t chunk, int worker) { function(begin + chunk, worker); });
  }
}

void ThreadPool::RunJob(int64_t chunk_count, const ChunkFunction& function) {
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  // The ticket is closed (kClosed) while the fields of the job change: a late
  // worker that holds the last job's ticket and reads this job's fields must
  // fail to claim a chunk. Each field is stored with release and loaded with
  // acquire order, so a worker that reads a new value also sees the closed
  // ticket.
  ticket_.store((uint64_t{job} << 32) | kClosed, std::memory_order_relaxed);
  function_.store(&function, std::memory_order_release);
  chunk_count_.store(static_cast<uint32_t>(chunk_count),
                     std::memory_order_release);
  completed_.store(0, std::memory_order_relaxed);
  ticket_.store(uint64_t{job} << 32, std::memory_order_release);
  // Sequentially consistent order excludes that a worker misses the new job
  // number and goes to sleep while this thread misses the worker in the number
  // of sleepers.
  job_.store(job, std::memory_order_seq_cst);
  const int sleepers = sleepers_.load(std::memory_order_seq_cst);
  if (sleepers > 0) {
    if (chunk_count > sleepers) {
      job_.notify_all();
    } else {
      for (int64_t i = 1; i < chunk_count; ++i) job_.notify_one();
    }
  }
  RunChunks(job, 0);
  AwaitCompletion(static_cast<uint32_t>(chunk_count));
}

void ThreadPool::RunChunks(uint32_t job, int worker) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(ticket >> 32) == job) {
    const ChunkFunction* function = function_.load(std::memory_order_acquire);
    const uint32_t count = chunk_count_.load(std::memory_order_acquire);
    const uint32_t chunk = static_cast<uint32_t>(ticket);
    if (chunk >= count) return;
    // The exchange fails if another worker has claimed the chunk, or if a new
    // job has begun, whose fields this worker has not read.
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1,
                                       std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      continue;
    }
    (*function)(chunk, worker);
    if (completed_.fetch_add(1, std::memory_order_seq_cst) + 1 == count &&
        caller_sleeps_.load(std::memory_order_seq_cst)) {
      completed_.notify_one();
    }
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

template <typename Condition>
bool ThreadPool::Spin(const Condition& condition) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (condition()) return true;
      Pause();
    }
    if (std::chrono::steady_clock::now() - start >= kSpinTime)
      return condition();
  }
}

void ThreadPool::AwaitCompletion(uint32_t chunk_count) {
  const auto complete = [&] {
    return completed_.load(std::memory_order_acquire) == chunk_count;
  };
  if (complete() || Spin(complete)) return;
  caller_sleeps_.store(true, std::memory_order_seq_cst);
  for (uint32_t seen = completed_.load(std::memory_order_seq_cst);
       seen != chunk_count; seen = completed_.load(std::memory_order_seq_cst)) {
    completed_.wait(seen, std::memory_order_seq_cst);
  }
  caller_sleeps_.store(false, std::memory_order_relaxed);
}

uint32_t ThreadPool::AwaitJob(uint32_t seen) {
  const auto has_job = [&] {
    return job_.load(std::memory_order_acquire) != seen;
  };
  if (!Spin(has_job)) {
    sleeps_.fetch_add(1, std::memory_order_relaxed);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    job_.wait(seen, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return job_.load(std::memory_order_acquire);
}

void ThreadPool::WorkerLoop(int worker) {
  NameThisThread("ember-pool");
  uint32_t seen = 0;
  while (true) {
    seen = AwaitJob(seen);
    if (stop_.load()) return;
    RunChunks(seen, worker);
  }
}

}  // namespace ember::hal

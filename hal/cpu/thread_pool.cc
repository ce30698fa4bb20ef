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

// Long enough to bridge the gap between two dispatches, short enough not to
// burn a core that somebody else wants.
constexpr std::chrono::microseconds kSpinTime(200);
// While something runs in the background, which would move to each core that is
// left for a moment: a scheduler remembers what a thread is owed beside another
// one of the same core (and that is nothing, after a pause), not beside one
// that it has just moved to. That one would lose its core for a tick, 4 ms.
constexpr std::chrono::microseconds kSpinTimeBesideBackground(5000);
// Two changes of threads, and caches that the background finds cold, are little
// beside the shortest pause; nobody waits for long for the end of the longest.
constexpr int64_t kLeastPause = 400'000, kMostPause = 4'000'000;
// What the thread loses with each besides, by the two changes.
constexpr int64_t kChanges = 130'000;
constexpr int kPausesPerClockRead = 32;

int ResolveThreadCount(int threads) {
  constexpr int kMaxThreads = 1024;
  if (threads <= 0)
    threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(threads, 1, kMaxThreads);
}

constexpr int64_t kMaxChunksPerJob = 1 << 30;
// A chunk number that no job has.
constexpr uint32_t kClosed = 0xffffffff;

}  // namespace

// Lets what runs in the background go on while a thread of the pool sleeps, and
// not while it is awake. Of that thread.
class ThreadPool::Keeper {
 public:
  Keeper(ThreadPool& pool, bool keeps) : pool_(pool), keeps_(keeps) {}
  ~Keeper() { GoAway(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Before the thread sleeps until there is a job.
  void GoAway() {
    if (stopped_ == nullptr) return;
    stopped_->GoOn();
    stopped_.reset();
  }
  void Pause(std::chrono::nanoseconds time) const {
    if (stopped_ == nullptr) return std::this_thread::sleep_for(time);
    stopped_->RunInstead(time.count());
  }
  bool is_watching() const { return stopped_ != nullptr; }
  // While it is awake, until it goes away, or nothing runs in the background.
  void Watch() {
    if (!keeps_) return;
    if (pool_.pause_period_.load(std::memory_order_relaxed) == 0)
      return GoAway();
    if (stopped_ != nullptr) return;
    {
      std::lock_guard<std::mutex> lock(pool_.background_mutex_);
      stopped_ = pool_.background_;
    }
    if (stopped_ != nullptr) stopped_->StandStill();
  }

 private:
  ThreadPool& pool_;
  const bool keeps_;
  std::shared_ptr<BackgroundWork> stopped_;
};

ThreadPool::ThreadPool(int threads)
    : worker_count_(ResolveThreadCount(threads)),
      takes_all_cores_(cores_.count() > 0 && worker_count_ >= cores_.count()) {
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
  // It is not known when the caller goes away: nothing is stopped.
  if (worker_count_ == 1) std::this_thread::sleep_for(DuePause());
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

void ThreadPool::LeaveToBackground(
    double share, int64_t pause_ns,
    const std::shared_ptr<BackgroundWork>& work) {
  const int64_t pause = std::clamp(pause_ns, kLeastPause, kMostPause);
  const bool pauses = takes_all_cores_ && share > 0;
  pause_.store(pause, std::memory_order_relaxed);
  pause_period_.store(
      pauses
          ? static_cast<int64_t>(static_cast<double>(pause + kChanges) / share)
          : 0,
      std::memory_order_relaxed);
  // Where they leave a core free, a scheduler takes a tick or two to see that.
  if (!takes_all_cores_ && work != nullptr) work->KeepOff(CurrentCore());
  std::lock_guard<std::mutex> lock(background_mutex_);
  background_ = pauses ? work : nullptr;
}

std::chrono::nanoseconds ThreadPool::DuePause() {
  constexpr std::chrono::nanoseconds kNone(0);
  const int64_t period = pause_period_.load(std::memory_order_relaxed);
  if (period == 0) return kNone;
  const int64_t now = std::chrono::nanoseconds(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count();
  if (now - last_pause_.load(std::memory_order_relaxed) < period) return kNone;
  last_pause_.store(now, std::memory_order_relaxed);
  return std::chrono::nanoseconds(pause_.load(std::memory_order_relaxed));
}

void ThreadPool::KeepOffCallersCore() {
  if (worker_count_ != cores_.count()) return;
  const int core = CurrentCore();
  if (core == callers_core_) return;
  callers_core_ = core;
  CoreSet others = cores_;
  others.Remove(core);
  for (std::thread& thread : threads_) KeepOn(thread.native_handle(), others);
}

void ThreadPool::RunJob(int64_t chunk_count, const ChunkFunction& function) {
  KeepOffCallersCore();
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  // Closed while the fields change: a worker that is late, holds the last job's
  // ticket and reads this job's fields must fail to claim. Release and acquire
  // of each field order it after the closing.
  ticket_.store((uint64_t{job} << 32) | kClosed, std::memory_order_relaxed);
  function_.store(&function, std::memory_order_release);
  chunk_count_.store(static_cast<uint32_t>(chunk_count),
                     std::memory_order_release);
  completed_.store(0, std::memory_order_relaxed);
  ticket_.store(uint64_t{job} << 32, std::memory_order_release);
  // Either a worker sees the new number before it sleeps, or we see it among
  // the sleepers.
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
    // Succeeds only while the job is still the one whose fields were read.
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
bool ThreadPool::Spin(const Condition& condition,
                      std::chrono::nanoseconds time) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (condition()) return true;
      Pause();
    }
    if (std::chrono::steady_clock::now() - start >= time) return condition();
  }
}

std::chrono::nanoseconds ThreadPool::SpinTime() const {
  return pause_period_.load(std::memory_order_relaxed) > 0
             ? kSpinTimeBesideBackground
             : kSpinTime;
}

void ThreadPool::AwaitCompletion(uint32_t chunk_count) {
  const auto complete = [&] {
    return completed_.load(std::memory_order_acquire) == chunk_count;
  };
  if (complete() || Spin(complete, SpinTime())) return;
  caller_sleeps_.store(true, std::memory_order_seq_cst);
  for (uint32_t seen = completed_.load(std::memory_order_seq_cst);
       seen != chunk_count; seen = completed_.load(std::memory_order_seq_cst)) {
    completed_.wait(seen, std::memory_order_seq_cst);
  }
  caller_sleeps_.store(false, std::memory_order_relaxed);
}

uint32_t ThreadPool::AwaitJob(uint32_t seen, Keeper& keeper) {
  const auto has_job = [&] {
    return job_.load(std::memory_order_acquire) != seen;
  };
  // Between two calls, too: stopping it again would take longer.
  if (!Spin(has_job,
            keeper.is_watching() ? kSpinTimeBesideBackground : SpinTime())) {
    keeper.GoAway();
    sleeps_.fetch_add(1, std::memory_order_relaxed);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    job_.wait(seen, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  keeper.Watch();
  return job_.load(std::memory_order_acquire);
}

void ThreadPool::WorkerLoop(int worker) {
  NameThisThread("ember-pool");
  Keeper keeper(*this, /*keeps=*/worker == 1);
  uint32_t seen = 0;
  while (true) {
    seen = AwaitJob(seen, keeper);
    if (stop_.load()) return;
    RunChunks(seen, worker);
    if (worker != 1) continue;
    const std::chrono::nanoseconds pause = DuePause();
    if (pause.count() > 0) keeper.Pause(pause);
  }
}

}  // namespace ember::hal

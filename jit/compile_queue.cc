#include "jit/compile_queue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/thread_name.h"

namespace ember::jit {
namespace {

// What compiling would save, in units that compare. A site that has a kernel
// already gains less from a better one than one that is interpreted.
int64_t Heat(const CompileQueue::Job& job) {
  constexpr int64_t kGainOfFirstKernel = 4;
  const bool has_kernel = job.slot->kernels() != nullptr;
  return job.slot->heat_ns() / (has_kernel ? kGainOfFirstKernel : 1);
}

}  // namespace

int64_t QueueTime::Now() const {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void QueueTime::Yield() { std::this_thread::yield(); }

int64_t QueueTime::RunTime(std::span<const ThreadClock> clocks) const {
  int64_t sum = 0;
  for (const ThreadClock& clock : clocks) {
    const int64_t ns = clock.nanoseconds();
    if (ns < 0) return -1;
    sum += ns;
  }
  return sum;
}

void QueueTime::WaitFor(std::condition_variable& changed,
                        std::unique_lock<std::mutex>& lock, int64_t ns,
                        const std::function<bool()>& ends) {
  changed.wait_for(lock, std::chrono::nanoseconds(ns), ends);
}

CompileQueue::CompileQueue(Options options,
                           std::function<void(const Job&)> work)
    : options_(std::move(options)), work_(std::move(work)) {}

CompileQueue::~CompileQueue() {
  {
    std::vector<Job> dropped;
    std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
    dropped.swap(jobs_);
  }
  // What is being done ends, whoever wants it to stand still.
  if (options_.stoppable != nullptr) options_.stoppable->Release();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileQueue::Add(Job job) {
  bool is_first = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_first = jobs_.empty();
    jobs_.push_back(std::move(job));
    if (threads_.empty()) {
      for (int i = 0; i < options_.threads; ++i)
        threads_.emplace_back([this] { WorkInBackground(); });
      threads_.emplace_back([this] { WorkWhereOthersStandStill(); });
    }
  }
  // A model asks for all its kernels in one call, and to wake a thread takes as
  // long as a small dispatch.
  if (is_first) changed_.notify_all();
}

void CompileQueue::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && busy_ == 0; });
}

bool CompileQueue::is_busy() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return busy_ > 0 || !jobs_.empty();
}

CompileQueue::Job CompileQueue::TakeHottest() {
  // max_element gives the first of equals: those are served in order.
  const auto hottest =
      std::ranges::max_element(jobs_, {}, [](const Job& j) { return Heat(j); });
  Job job = std::move(*hottest);
  jobs_.erase(hottest);
  return job;
}

void CompileQueue::DoHottest(std::unique_lock<std::mutex>& lock) {
  Job job = TakeHottest();
  ++busy_;
  lock.unlock();
  {
    std::optional<StoppableThreads::Section> section;
    if (options_.stoppable != nullptr) section.emplace(*options_.stoppable);
    work_(job);
    job = {};  // May be the last to hold the module.
  }
  lock.lock();
  --busy_;
  // Who wakes takes its core: not with a lock that callers wait for.
  lock.unlock();
  changed_.notify_all();
  lock.lock();
}

void CompileQueue::WorkInBackground() {
  NameThisThread("ember-compile");
  EnterBackground();
  std::unique_lock<std::mutex> lock(mutex_);
  clocks_.push_back(ThreadClock::OfThisThread());
  const auto may_begin = [&] { return !jobs_.empty() && !stand_still_; };
  while (true) {
    changed_.wait(lock, [&] { return stops_ || may_begin(); });
    if (stops_) return;
    // A job that is begun must end here: better not where it would stand still.
    lock.unlock();
    const bool gets_on = GetsItsTurn();
    lock.lock();
    if (gets_on && may_begin() && !stops_) DoHottest(lock);
  }
}

void CompileQueue::WorkWhereOthersStandStill() {
  // Steps back for all others that step back for nobody; gets on all the same.
  constexpr int kNiceness = 15;
  NameThisThread("ember-helper");
  LowerPriority(kNiceness);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || !jobs_.empty(); });
    stand_still_ = !GetOn(lock);
    if (stops_) return;
    if (stand_still_ && !jobs_.empty()) DoHottest(lock);
    stand_still_ = false;
    changed_.notify_all();
  }
}

bool CompileQueue::GetsItsTurn() const {
  const int64_t begin = options_.time->Now();
  options_.time->Yield();
  return options_.time->Now() - begin < patience() / 10;
}

bool CompileQueue::GetOn(std::unique_lock<std::mutex>& lock) {
  // Sessions leave them a fortieth of a core or more; others that take all
  // cores, a tick now and then (1/300).
  constexpr int64_t kLeastPart = 64;
  QueueTime& time = *options_.time;
  const int64_t before = time.RunTime(clocks_);
  const int64_t begin = time.Now();
  time.WaitFor(changed_, lock, patience(),
               [&] { return stops_ || jobs_.empty(); });
  // All stood still if this thread did, too: a machine that was halted.
  const bool was_halted = time.Now() - begin > patience() + patience() / 4;
  const int64_t now = time.RunTime(clocks_);
  return was_halted || now < 0 || jobs_.empty() ||
         now - before >= patience() / kLeastPart;
}

}  // namespace ember::jit

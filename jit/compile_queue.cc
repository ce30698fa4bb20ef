#include "jit/compile_queue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/thread_name.h"
#include "jit/worker/background_thread.h"

namespace ember::jit {
namespace {

// Returns a measure of the time that compiling the job would save: the time
// that its site has taken. It is divided if the site has a kernel, because
// replacing a kernel by a better one saves less than replacing the interpreter.
int64_t Heat(const CompileQueue::Job& job) {
  constexpr int64_t kGainOfFirstKernel = 4;
  const bool has_kernel = job.slot->kernels() != nullptr;
  return job.slot->heat_ns() / (has_kernel ? kGainOfFirstKernel : 1);
}

}  // namespace

CompileQueue::CompileQueue(Options options,
                           std::function<void(const Job&)> work)
    : options_(options), work_(std::move(work)) {}

CompileQueue::~CompileQueue() {
  {
    std::vector<Entry> dropped;
    std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileQueue::Add(Job job) { Add(Entry{std::move(job), nullptr}); }

void CompileQueue::AddAndWait(Job job, const Interrupt& interrupt) {
  const auto is_done = std::make_shared<bool>(false);
  Add(Entry{std::move(job), is_done});
  std::unique_lock<std::mutex> lock(mutex_);
  while (!*is_done && !interrupt.ShouldStop())
    changed_.wait_for(lock, kMaxDelay);
}

void CompileQueue::Add(Entry entry) {
  bool is_first = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_first = waiting_.empty();
    waiting_.push_back(std::move(entry));
    const size_t wanted = waiting_.size() + static_cast<size_t>(busy_);
    if (threads_.size() < static_cast<size_t>(options_.threads) &&
        threads_.size() < wanted)
      threads_.emplace_back([this] { Work(); });
  }
  // Threads are woken only when the queue was empty: a model asks for all its
  // kernels in one call, and each wake-up takes as long as a small dispatch.
  if (is_first) changed_.notify_all();
}

void CompileQueue::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && busy_ == 0; });
}

bool CompileQueue::is_busy() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return busy_ > 0 || !waiting_.empty();
}

CompileQueue::Entry CompileQueue::TakeHottest() {
  // max_element returns the first of several equal entries, so equally hot jobs
  // are served in the order in which they were added.
  const auto hottest = std::ranges::max_element(
      waiting_, {}, [](const Entry& entry) { return Heat(entry.job); });
  Entry entry = std::move(*hottest);
  waiting_.erase(hottest);
  return entry;
}

void CompileQueue::Work() {
  NameThisThread("ember-compile");
  LowerPriority(options_.niceness);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
    if (stops_) return;
    Entry entry = TakeHottest();
    ++busy_;
    lock.unlock();
    work_(entry.job);
    // Destroys the job without holding the lock, because this may release the
    // job's module.
    entry.job = {};
    lock.lock();
    --busy_;
    if (entry.is_done != nullptr) *entry.is_done = true;
    // The lock is released before waiting threads are woken, because a woken
    // thread may take this thread's core and then wait for the lock.
    lock.unlock();
    changed_.notify_all();
    lock.lock();
  }
}

}  // namespace ember::jit

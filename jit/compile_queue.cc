#include "jit/compile_queue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/thread_name.h"
#include "jit/background_thread.h"

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

CompileQueue::CompileQueue(Options options,
                           std::function<void(const Job&)> work)
    : options_(options), work_(std::move(work)) {}

CompileQueue::~CompileQueue() {
  {
    std::vector<Job> dropped;
    std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
    dropped.swap(jobs_);
  }
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
        threads_.emplace_back([this] { Work(); });
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

void CompileQueue::Work() {
  NameThisThread("ember-compile");
  LowerPriority(options_.niceness);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    Job job = TakeHottest();
    ++busy_;
    lock.unlock();
    work_(job);
    job = {};  // May be the last to hold the module.
    lock.lock();
    --busy_;
    // Who wakes takes this thread's core: not with a lock that callers want.
    lock.unlock();
    changed_.notify_all();
    lock.lock();
  }
}

}  // namespace ember::jit

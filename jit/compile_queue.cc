#include "jit/compile_queue.h"

#include <algorithm>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ember::jit {
namespace {

// Of the calling thread. Only Linux has priorities of threads that any program
// may lower; elsewhere the threads compete as others do.
void LowerPriority(int niceness) {
#ifdef __linux__
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  // Refused only where it does not matter: a sandbox without the call.
  static_cast<void>(
      setpriority(PRIO_PROCESS, thread, std::min(now + niceness, 19)));
#endif
}

// What compiling would save, in units that compare. A site that has a kernel
// already gains less from a better one than one that is interpreted.
int64_t Heat(const CompileQueue::Job& job) {
  constexpr int64_t kGainOfFirstKernel = 4;
  const bool has_kernel = job.slot->kernels() != nullptr;
  return job.slot->total_ns() / (has_kernel ? kGainOfFirstKernel : 1);
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
  {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
    if (threads_.empty()) {
      for (int i = 0; i < options_.threads; ++i)
        threads_.emplace_back([this] { Work(); });
    }
  }
  changed_.notify_all();
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
    changed_.notify_all();
  }
}

}  // namespace ember::jit

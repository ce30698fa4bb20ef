// What waits to be compiled, and the threads that do it: the hottest dispatch
// first, beside sessions that should not notice.
//
//   CompileQueue queue({.threads = 1}, [&](const CompileQueue::Job& job) {
//     job.slot->Install(Compile(job.request));
//   });
//   queue.Add({request, slot});
//
// The first is the one whose slot has taken most time when a thread gets free,
// not when it was added: sites that a program visits for the first time late
// may still come first. Knows nothing of what compiling is: no LLVM here.
//
// The threads, which start with the first job, run in the background
// (background_thread.h). Calls of sessions leave them a share of their cores
// (base/parallel.h: BackgroundShare), and stop them for the rest of the time
// where they need all cores (stoppable_threads.h). Where somebody else takes
// all cores they get next to nothing. Then one more thread, of a low priority
// that gets 3% of a core, does the jobs that wait, until the others get on
// again. What was begun there ends there: a kernel may come late.
//
// Thread-safe. The destructor drops what has not begun and waits for what has;
// a program that ends while is_busy() and should not wait leaves with _exit.
#ifndef EMBER_JIT_COMPILE_QUEUE_H_
#define EMBER_JIT_COMPILE_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "jit/background_thread.h"
#include "jit/stoppable_threads.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/tiering.h"

namespace ember::jit {

// Time as a CompileQueue sees it. Tests play another.
class QueueTime {
 public:
  virtual ~QueueTime() = default;
  // Nanoseconds since some moment.
  virtual int64_t Now() const;
  // Offers the calling thread's core to others.
  virtual void Yield();
  // How long the threads have run together; negative: that is not known.
  virtual int64_t RunTime(std::span<const ThreadClock> clocks) const;
  // For that long, or until it `ends`, which `changed` tells of.
  virtual void WaitFor(std::condition_variable& changed,
                       std::unique_lock<std::mutex>& lock, int64_t ns,
                       const std::function<bool()>& ends);
};

class CompileQueue {
 public:
  struct Job {
    vm::KernelRequest request;
    std::shared_ptr<vm::KernelSlot> slot;
  };
  struct Options {
    int threads = 1;
    // How long the threads in the background may stand still while jobs wait.
    // Clocks of threads are known by the tick (4 ms).
    std::chrono::milliseconds patience{500};
    // Where the threads in the background are stopped; null: nowhere.
    std::shared_ptr<StoppableThreads> stoppable;
    std::shared_ptr<QueueTime> time = std::make_shared<QueueTime>();
  };

  CompileQueue(Options options, std::function<void(const Job&)> work);
  ~CompileQueue();
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  void Add(Job job);
  // Until nothing is waiting or in work.
  void Wait();
  // Something is waiting or in work.
  bool is_busy() const;

 private:
  // What the threads do.
  void WorkInBackground();
  void WorkWhereOthersStandStill();
  // All with mutex_ held.
  Job TakeHottest();
  void DoHottest(std::unique_lock<std::mutex>& lock);
  // Whether the threads in the background ran for a part of the time, while
  // patience_ lasted. Ends at once when nothing waits.
  bool GetOn(std::unique_lock<std::mutex>& lock);
  // Of the calling thread, in the background: whether it has its core back soon
  // after it offered it to others.
  bool GetsItsTurn() const;
  int64_t patience() const {
    return std::chrono::nanoseconds(options_.patience).count();
  }

  const Options options_;
  const std::function<void(const Job&)> work_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  int busy_ = 0;
  bool stand_still_ = false;  // the threads in the background
  bool stops_ = false;
  std::vector<ThreadClock> clocks_;  // of those
  std::vector<std::thread> threads_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_COMPILE_QUEUE_H_

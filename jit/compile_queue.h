// A queue of jobs to compile, and the threads that do them. The hottest
// dispatch comes first, and compiling should hardly slow down running sessions.
//
//   CompileQueue queue({.threads = 1}, [&](const CompileQueue::Job& job) {
//     job.slot->Install(Compile(job.request));
//   });
//   queue.Add({request, slot});
//
// The next job is the one whose slot has taken the most time when a thread
// becomes free, not when it was added. So the job of a site that a program
// reaches late may still come first. The queue knows nothing about compiling:
// there is no LLVM here.
//
// A thread starts when a job finds none free, and runs with a low priority
// unless the options say otherwise. Where other threads take all cores, it only
// gets the share that the system gives to this priority, and kernels come late.
//
// Thread-safe. The destructor drops jobs that have not begun and waits for
// those that have. A program that ends while is_busy() and should not wait
// leaves with _exit.
#ifndef EMBER_JIT_COMPILE_QUEUE_H_
#define EMBER_JIT_COMPILE_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "jit/worker/background_thread.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

class CompileQueue {
 public:
  struct Job {
    vm::KernelRequest request;
    std::shared_ptr<vm::KernelSlot> slot;
    // Time at which the JIT got the request (KernelEvent::requested_ns). The
    // queue does not use it.
    int64_t requested_ns = 0;
  };
  struct Options {
    int threads = 1;  // largest number of threads that the queue starts
    // Nice value of the threads (LowerPriority).
    int niceness = kCompilingNiceness;
  };

  CompileQueue(Options options, std::function<void(const Job&)> work);
  ~CompileQueue();
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  void Add(Job job);
  // Adds the job and waits until it is done, or until `interrupt` asks to stop,
  // which is noticed within kMaxDelay. If the wait ends early, the job stays in
  // the queue and a thread does it later.
  void AddAndWait(Job job, const Interrupt& interrupt);
  // Waits until no job is in the queue or in work.
  void Wait();
  // True if a job is in the queue or in work.
  bool is_busy() const;

  // Longest time until a caller of AddAndWait notices that its interrupt asks
  // to stop.
  static constexpr std::chrono::milliseconds kMaxDelay{2};

 private:
  struct Entry {
    Job job;
    // Points to a flag that is set to true, with mutex_ held, when the job is
    // done. Null if no caller waits for the job.
    std::shared_ptr<bool> is_done;
  };

  void Add(Entry entry);
  // The main function of each thread: does jobs until the queue is destroyed.
  void Work();
  // Removes the hottest job from the queue and returns it. mutex_ must be held.
  Entry TakeHottest();

  const Options options_;
  const std::function<void(const Job&)> work_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  std::condition_variable changed_;
  std::vector<Entry> waiting_;
  int busy_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_COMPILE_QUEUE_H_

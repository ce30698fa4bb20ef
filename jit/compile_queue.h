// What waits to be compiled, and the threads that do it: the hottest dispatch
// first, beside sessions that should hardly notice.
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
// A thread starts when a job finds none free, and runs with a low priority
// unless it is told otherwise. Where others take all cores it gets the share
// that the system gives to it, and kernels come late.
//
// Thread-safe. The destructor drops what has not begun and waits for what has;
// a program that ends while is_busy() and should not wait leaves with _exit.
#ifndef EMBER_JIT_COMPILE_QUEUE_H_
#define EMBER_JIT_COMPILE_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "jit/background_thread.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/tiering.h"

namespace ember::jit {

class CompileQueue {
 public:
  struct Job {
    vm::KernelRequest request;
    std::shared_ptr<vm::KernelSlot> slot;
  };
  struct Options {
    int threads = 1;  // at most
    // How nice the threads are to others (LowerPriority).
    int niceness = kCompilingNiceness;
  };

  CompileQueue(Options options, std::function<void(const Job&)> work);
  ~CompileQueue();
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  void Add(Job job);
  // Adds the job and waits until it is done, or until the interrupt says stop,
  // which is seen within kMostDelay. A job that is waited for no longer stays
  // in the queue, and a thread does it all the same.
  void AddAndWait(Job job, const Interrupt& interrupt);
  // Until nothing is waiting or in work.
  void Wait();
  // Something is waiting or in work.
  bool is_busy() const;

  // How long a caller of AddAndWait takes to see its interrupt.
  static constexpr std::chrono::milliseconds kMostDelay{2};

 private:
  struct Entry {
    Job job;
    // Set, with mutex_ held, when it is done; null if nobody wants to know.
    std::shared_ptr<bool> is_done;
  };

  void Add(Entry entry);
  // What the threads do.
  void Work();
  // With mutex_ held.
  Entry TakeHottest();

  const Options options_;
  const std::function<void(const Job&)> work_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Entry> waiting_;
  int busy_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_COMPILE_QUEUE_H_

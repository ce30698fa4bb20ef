// The thread that executes a session's asynchronous runs, and the fences that
// are signalled when a run has ended.
//
//   RunThread thread;
//   EMBER_RETURN_IF_ERROR(thread.Start(job, fence));
//   fence->Wait(-1);
//
// Thread-safe except for the destructor, which waits for the job in progress.
#ifndef EMBER_VM_API_RUN_THREAD_H_
#define EMBER_VM_API_RUN_THREAD_H_

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "base/status.h"

namespace ember::api {

class Fence {
 public:
  void Signal(Status status);
  // Waits for the job's status, at most this number of seconds; a negative
  // number means no limit. Returns null if the job has not ended in this time.
  const Status* Wait(double seconds);
  bool is_signalled() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_signalled_ = false;
  // result of the run; does not change once the fence is signalled
  Status status_;
};

class RunThread {
 public:
  // A function that executes a run on the thread. Its status is passed to the
  // fence.
  using Job = std::function<Status()>;

  RunThread() = default;
  // Waits until the job in progress has ended, which must not start another
  // job.
  ~RunThread();
  RunThread(const RunThread&) = delete;
  RunThread& operator=(const RunThread&) = delete;

  // Starts the job on this thread. A job may start the next job before it ends.
  // `fence` may be null. Returns ResourceExhausted if the thread could not be
  // created.
  Status Start(Job job, std::shared_ptr<Fence> fence);

 private:
  static void* Main(void* self);
  void Work();

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  Job job_;  // the job that the thread executes next; empty if there is none
  std::shared_ptr<Fence> fence_;
  bool stops_ = false;
  bool has_thread_ = false;
  pthread_t thread_ = {};
};

}  // namespace ember::api

#endif  // EMBER_VM_API_RUN_THREAD_H_

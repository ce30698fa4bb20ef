// The thread of a session's asynchronous runs, and fences.
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
  // Waits for the job's status. Null if the time is over first; negative
  // seconds: without limit.
  const Status* Wait(double seconds);
  bool is_signalled() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_signalled_ = false;
  Status status_;  // constant once signalled
};

class RunThread {
 public:
  // A run to execute. Returns the status that the fence receives.
  using Job = std::function<Status()>;

  RunThread() = default;
  // Waits for the job in progress, which must not start another one.
  ~RunThread();
  RunThread(const RunThread&) = delete;
  RunThread& operator=(const RunThread&) = delete;

  // Starts the job on this thread. A job may start the next one before it ends;
  // fence may be null. ResourceExhausted: the thread could not be created.
  Status Start(Job job, std::shared_ptr<Fence> fence);

 private:
  static void* Main(void* self);
  void Work();

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  Job job_;  // empty: no job is waiting
  std::shared_ptr<Fence> fence_;
  bool stops_ = false;
  bool has_thread_ = false;
  pthread_t thread_ = {};
};

}  // namespace ember::api

#endif  // EMBER_VM_API_RUN_THREAD_H_

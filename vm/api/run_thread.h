// The thread on which a session runs without its caller, and fences.
//
//   RunThread thread;
//   EMBER_RETURN_IF_ERROR(thread.Start(job, fence));
//   fence->Wait(-1);
//
// Thread-safe but for the destructor, which waits for the job that runs.
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
  // Null: not within that time. seconds negative: without end.
  const Status* Wait(double seconds);
  bool is_signalled() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_signalled_ = false;
  Status status_;  // does not change once signalled
};

class RunThread {
 public:
  // Gives what the fence says.
  using Job = std::function<Status()>;

  RunThread() = default;
  // Waits for the job that runs, which must start no other.
  ~RunThread();
  RunThread(const RunThread&) = delete;
  RunThread& operator=(const RunThread&) = delete;

  // A job may start the next one before it ends; fence may be null.
  // ResourceExhausted: there is no thread.
  Status Start(Job job, std::shared_ptr<Fence> fence);

 private:
  static void* Main(void* self);
  void Work();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Job job_;  // empty: none waits
  std::shared_ptr<Fence> fence_;
  bool stops_ = false;
  bool has_thread_ = false;
  pthread_t thread_ = {};
};

}  // namespace ember::api

#endif  // EMBER_VM_API_RUN_THREAD_H_

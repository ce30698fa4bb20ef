// An OpenCL device: its context, one queue that runs commands in order, and the
// submissions to that queue.
//
//   EMBER_ASSIGN_OR_RETURN(auto submission, context->Submit([&] {
//     return context->Check("clEnqueueNDRangeKernel",
//                           cl.EnqueueNDRangeKernel(...));
//   }));
//   EMBER_RETURN_IF_ERROR(submission->Wait());
//
// A device is lost if a kernel faults or if the device disappears. Once a call
// finds it lost, every later call returns the same FailedPrecondition, no call
// waits any more, and all objects can still be destroyed. Thread-safe.
// Submissions keep their context alive.
#ifndef EMBER_HAL_OPENCL_CONTEXT_H_
#define EMBER_HAL_OPENCL_CONTEXT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/status.h"
#include "hal/device_loss.h"
#include "hal/opencl/api/functions.h"
#include "hal/opencl/library.h"

namespace ember::hal::opencl {

class Submission;

class Context : public std::enable_shared_from_this<Context> {
 public:
  // Creates the context of a device. `index` is the number of the device in the
  // library's list. If `has_times`, submissions measure their time.
  static StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<const Library> library, size_t index, bool has_times);
  // Waits until all work on the queue is complete, unless the device is lost.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& cl() const { return library_->cl; }
  const DeviceProperties& properties() const { return device_.properties; }
  cl_context handle() const { return context_; }
  cl_device_id device() const { return device_.id; }
  cl_command_queue queue() const { return queue_; }

  // Converts the result of the OpenCL call `call` to a status with the device's
  // name. If the result says that the device is lost, the loss is recorded.
  Status Check(std::string_view call, cl_int result);
  // Does what Check does, for the result of a call that waits for commands: if
  // one of the commands failed, the device counts as lost, whatever the error
  // is.
  Status CheckWait(std::string_view call, cl_int result);
  // Returns OK if the device can be used; otherwise the error with which it was
  // lost.
  Status Alive() const { return loss_.status(); }

  // Calls `enqueue`, which puts commands on the queue. No other thread enqueues
  // commands meanwhile.
  StatusOr<std::shared_ptr<Submission>> Submit(
      const std::function<Status()>& enqueue);
  // Waits for all enqueued work and ignores errors, because its callers
  // (destructors, and Submit after an error) cannot report them.
  void Finish();

 private:
  Context(std::shared_ptr<const Library> library, size_t index, bool has_times)
      : library_(std::move(library)),
        device_(library_->devices[index]),
        has_times_(has_times) {}
  StatusOr<cl_event> EnqueueMarker();

  const std::shared_ptr<const Library> library_;
  const FoundDevice& device_;
  const bool has_times_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  // This mutex is held during a sequence of calls whose commands must be
  // contiguous on the queue.
  std::mutex submit_mutex_;
  DeviceLoss loss_;
};

// A submission represents the work that was put on the queue until it was made.
class Submission {
 public:
  // Owns the events.
  Submission(std::shared_ptr<Context> context, cl_event begin, cl_event end)
      : context_(std::move(context)), begin_(begin), end_(end) {}
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // Waits until this submission, and so every earlier one, is complete.
  Status Wait();
  // True if this submission is complete, or if the device is lost.
  bool IsDone();
  // Waits for the submission, then returns the milliseconds that the device
  // took. Returns Unimplemented if the context does not measure times.
  StatusOr<double> Milliseconds();

 private:
  const std::shared_ptr<Context> context_;
  // Event at the beginning of the work. It is null if times are not measured.
  const cl_event begin_;
  const cl_event end_;
  std::atomic<bool> is_done_{false};
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_CONTEXT_H_

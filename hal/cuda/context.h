// A CUDA device: its primary context, one stream, and the submissions to that
// stream.
//
//   EMBER_ASSIGN_OR_RETURN(auto submission, context->Submit([&] {
//     return context->Check("cuLaunchKernel", cu.LaunchKernel(...));
//   }));
//   EMBER_RETURN_IF_ERROR(submission->Wait());
//
// Submissions run in the order in which they are made. A context is lost if a
// kernel faults or if the device disappears. Once a call finds it lost, every
// later call returns the same FailedPrecondition, no call waits any more, and
// all objects can still be destroyed. Thread-safe. Submissions keep their
// context alive.
#ifndef EMBER_HAL_CUDA_CONTEXT_H_
#define EMBER_HAL_CUDA_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hal/cuda/api/functions.h"
#include "hal/cuda/library.h"
#include "hal/cuda/properties.h"
#include "hal/device_loss.h"

namespace ember::hal::cuda {

class Submission;

class Context : public std::enable_shared_from_this<Context> {
 public:
  // Creates the context of a device. `index` is the number of the device in
  // CUDA's list. If `has_times`, submissions measure their time.
  static StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<const Library> library, int index, bool has_times);
  // Waits until all work on the stream is complete, unless the context is lost.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& cu() const { return library_->cu; }
  bool is_emulated() const { return library_->is_emulated; }
  int driver_version() const { return library_->driver_version; }
  const DeviceProperties& properties() const { return properties_; }
  CUcontext handle() const { return context_; }
  CUdevice device() const { return device_; }
  CUstream stream() const { return stream_; }

  // Converts the result of the CUDA call `call` to a status with the device's
  // name. If the result says that the context is lost, the loss is recorded.
  Status Check(std::string_view call, CUresult result);
  // Returns OK if the context can be used; otherwise the error with which it
  // was lost.
  Status Alive() const { return loss_.status(); }

  // Makes the context current on this thread as long as this object exists.
  // CUDA may only be called while there is such an object whose status is OK.
  class Current {
   public:
    explicit Current(Context& context);
    ~Current();
    const Status& status() const { return status_; }

   private:
    Context& context_;
    Status status_;
  };

  // Calls `enqueue`, which puts work on the stream. The context is current
  // during the call, and no other thread enqueues work meanwhile.
  StatusOr<std::shared_ptr<Submission>> Submit(
      const std::function<Status()>& enqueue);
  // Waits for all enqueued work and ignores errors, because its callers are
  // destructors.
  void Finish();

 private:
  friend class Submission;
  Context(std::shared_ptr<const Library> library, int index, bool has_times)
      : library_(std::move(library)), device_(index), has_times_(has_times) {}

  StatusOr<CUevent> TakeEvent();
  void GiveEvent(CUevent event);

  const std::shared_ptr<const Library> library_;
  CUdevice device_;
  const bool has_times_;
  DeviceProperties properties_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;

  // This mutex is held while several calls put their work on the stream, so
  // that no other thread's work comes between.
  std::mutex submit_mutex_;
  std::mutex events_mutex_;  // guards events_
  // Events for later submissions; none uses them at present.
  std::vector<CUevent> events_;

  DeviceLoss loss_;
};

// A submission represents the work that was put on the stream until it was
// made.
class Submission {
 public:
  Submission(std::shared_ptr<Context> context, CUevent begin, CUevent end)
      : context_(std::move(context)), begin_(begin), end_(end) {}
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // Waits until this submission, and so every earlier one, is complete.
  Status Wait();
  // True if this submission is complete, or if the context is lost.
  bool IsDone();
  // Waits for the submission, then returns the milliseconds that the device
  // took. Returns Unimplemented if the context does not measure times.
  StatusOr<double> Milliseconds();

 private:
  const std::shared_ptr<Context> context_;
  // Event before the work, to measure the time. It is null if times are not
  // measured.
  const CUevent begin_;
  const CUevent end_;
  std::atomic<bool> is_done_{false};
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_CONTEXT_H_

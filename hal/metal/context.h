// A Metal device: its queue, the submissions to that queue, and kernels of the
// driver's own that copy and fill bytes at any address.
//
//   EMBER_ASSIGN_OR_RETURN(auto submission,
//                          context->Submit([&](CommandBufferRef commands) {
//                            … encodes commands …
//                            return OkStatus();
//                          }));
//   EMBER_RETURN_IF_ERROR(submission->Wait());
//
// The device counts as lost when commands end with an error, because what they
// wrote is unknown. From then on every call returns the same
// FailedPrecondition, no call waits any more, and all objects can still be
// destroyed. Thread-safe. Submissions keep their context alive.
#ifndef EMBER_HAL_METAL_CONTEXT_H_
#define EMBER_HAL_METAL_CONTEXT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/status.h"
#include "hal/device_loss.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/api/owned.h"
#include "hal/metal/library.h"
#include "hal/metal/properties.h"

namespace ember::hal::metal {

class Submission;

class Context : public std::enable_shared_from_this<Context> {
 public:
  // Creates the context of a device. `index` is the number of the device in the
  // library's list. If `has_times`, submissions say how long they took.
  static StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<const Library> library, size_t index, bool has_times);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& metal() const { return library_->functions; }
  const DeviceProperties& properties() const { return properties_; }
  DeviceRef device() const { return library_->devices[index_].ref.get(); }
  bool has_times() const { return has_times_; }
  // The pipelines of the driver's own kernels (byte_kernels.h).
  PipelineRef copy_bytes() const { return copy_bytes_.get(); }
  PipelineRef fill_bytes() const { return fill_bytes_.get(); }

  // Compiles a program of MSL. Errors: InvalidArgument with the compiler's line
  // that says most.
  StatusOr<Owned<LibraryRef>> Compile(std::string_view source) const;
  // Makes a kernel function of a program ready to run. Errors: InvalidArgument
  // if the program has no such function, or if the device refuses it.
  StatusOr<Owned<PipelineRef>> MakePipeline(LibraryRef program,
                                            const char* function) const;

  // Adds the device's name to an error.
  Status WithName(const Status& status) const;
  // Returns OK, or the error of the lost device.
  Status Alive() const { return loss_.status(); }
  // Notes that the device is lost because commands ended with an error. Returns
  // the status that every call returns from now on.
  Status Lose(const Error& error);

  // Calls `encode`, which puts commands into a new command buffer, and commits
  // the buffer. Buffers run in the order in which they were committed; no other
  // thread commits one meanwhile.
  StatusOr<std::shared_ptr<Submission>> Submit(
      const std::function<Status(CommandBufferRef)>& encode);

 private:
  Context(std::shared_ptr<const Library> library, size_t index, bool has_times)
      : library_(std::move(library)),
        index_(index),
        has_times_(has_times),
        properties_(library_->devices[index].facts, 0) {}
  Status MakeKernels();

  const std::shared_ptr<const Library> library_;
  const size_t index_;
  const bool has_times_;
  DeviceProperties properties_;
  Owned<QueueRef> queue_;
  Owned<PipelineRef> copy_bytes_;
  Owned<PipelineRef> fill_bytes_;
  // This mutex is held from the begin of a command buffer until it is
  // committed.
  std::mutex submit_mutex_;
  DeviceLoss loss_;
};

// Represents the commands of a committed command buffer.
class Submission {
 public:
  Submission(std::shared_ptr<Context> context, Owned<CommandBufferRef> commands)
      : context_(std::move(context)), commands_(std::move(commands)) {}

  // Waits until this submission, and so every earlier one, is complete.
  Status Wait();
  // True if this submission is complete, or if the device is lost.
  bool IsDone();
  // Waits for the submission, then returns the milliseconds that the device
  // took. Returns Unimplemented if the context does not measure times.
  StatusOr<double> Milliseconds();

 private:
  const std::shared_ptr<Context> context_;
  const Owned<CommandBufferRef> commands_;
  std::atomic<bool> is_done_{false};
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_CONTEXT_H_

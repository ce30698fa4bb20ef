#include "hal/metal/context.h"

#include <utility>

#include "base/concat.h"
#include "hal/metal/api/result.h"
#include "hal/metal/byte_kernels.h"

namespace ember::hal::metal {

StatusOr<std::shared_ptr<Context>> Context::Create(
    std::shared_ptr<const Library> library, size_t index, bool has_times) {
  const std::shared_ptr<Context> context(
      new Context(std::move(library), index, has_times));
  context->queue_ =
      Owned(context->metal(), context->metal().NewQueue(context->device()));
  if (context->queue_.get() == nullptr) {
    return context->WithName(
        NilStatus(StatusCode::kResourceExhausted, "newCommandQueue"));
  }
  EMBER_RETURN_IF_ERROR(context->MakeKernels());
  return context;
}

Status Context::MakeKernels() {
  EMBER_ASSIGN_OR_RETURN(const Owned<LibraryRef> program,
                         Compile(kByteKernels));
  EMBER_ASSIGN_OR_RETURN(copy_bytes_, MakePipeline(program.get(), kCopyBytes));
  EMBER_ASSIGN_OR_RETURN(fill_bytes_, MakePipeline(program.get(), kFillBytes));
  // Only compiled code says how many threads advance together.
  const PipelineFacts facts = metal().PipelineFactsOf(copy_bytes());
  properties_ =
      DeviceProperties(library_->devices[index_].facts, facts.execution_width);
  if (facts.max_threads >= kByteThreads) return OkStatus();
  return WithName(ResourceExhaustedError(
      Concat({"expected threadgroups of ", kByteThreads,
              " threads, found at most ", facts.max_threads})));
}

StatusOr<Owned<LibraryRef>> Context::Compile(std::string_view source) const {
  Error error;
  Owned library(metal(), metal().NewLibrary(device(), source, &error));
  // The error of a library that was made is a warning.
  if (library.get() != nullptr) return library;
  return WithName(
      NilStatus(StatusCode::kInvalidArgument, "newLibraryWithSource", error));
}

StatusOr<Owned<PipelineRef>> Context::MakePipeline(LibraryRef program,
                                                   const char* function) const {
  const Owned entry(metal(), metal().NewFunction(program, function));
  if (entry.get() == nullptr) {
    return WithName(
        NilStatus(StatusCode::kInvalidArgument, "newFunctionWithName"));
  }
  Error error;
  Owned pipeline(metal(), metal().NewPipeline(device(), entry.get(), &error));
  if (pipeline.get() != nullptr) return pipeline;
  return WithName(NilStatus(StatusCode::kInvalidArgument,
                            "newComputePipelineStateWithFunction", error));
}

Status Context::WithName(const Status& status) const {
  return status.WithContext(Concat({"metal device '", properties_.name, "'"}));
}

Status Context::Lose(const Error& error) {
  return loss_.Note(WithName(CommandsStatus(error)));
}

StatusOr<std::shared_ptr<Submission>> Context::Submit(
    const std::function<Status(CommandBufferRef)>& encode) {
  EMBER_RETURN_IF_ERROR(Alive());
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  Owned commands(metal(), metal().NewCommandBuffer(queue_.get()));
  if (commands.get() == nullptr) {
    return WithName(NilStatus(StatusCode::kResourceExhausted, "commandBuffer"));
  }
  // A command buffer that is released before it is committed does nothing.
  EMBER_RETURN_IF_ERROR(encode(commands.get()));
  metal().Commit(commands.get());
  return std::make_shared<Submission>(shared_from_this(), std::move(commands));
}

Status Submission::Wait() {
  if (is_done_.load(std::memory_order_acquire)) return OkStatus();
  EMBER_RETURN_IF_ERROR(context_->Alive());
  const Functions& metal = context_->metal();
  metal.WaitUntilCompleted(commands_.get());
  if (metal.StatusOf(commands_.get()) != CommandStatus::kCompleted)
    return context_->Lose(metal.ErrorOf(commands_.get()));
  is_done_.store(true, std::memory_order_release);
  return OkStatus();
}

bool Submission::IsDone() {
  if (is_done_.load(std::memory_order_acquire)) return true;
  if (!context_->Alive().ok()) return true;
  switch (context_->metal().StatusOf(commands_.get())) {
    case CommandStatus::kNotEnqueued:
    case CommandStatus::kEnqueued:
    case CommandStatus::kCommitted:
    case CommandStatus::kScheduled:
      return false;
    case CommandStatus::kCompleted:
      is_done_.store(true, std::memory_order_release);
      return true;
    case CommandStatus::kError:
      // Wait returns the error.
      return true;
  }
  return false;
}

StatusOr<double> Submission::Milliseconds() {
  if (!context_->has_times()) {
    return UnimplementedError(
        "metal device: expected DeviceOptions::timestamps, found none");
  }
  EMBER_RETURN_IF_ERROR(Wait());
  constexpr double kMillisecondsPerSecond = 1e3;
  return context_->metal().GpuSecondsOf(commands_.get()) *
         kMillisecondsPerSecond;
}

}  // namespace ember::hal::metal

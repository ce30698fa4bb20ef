#include "hal/cuda/context.h"

#include "base/concat.h"
#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {

StatusOr<std::shared_ptr<Context>> Context::Create(
    std::shared_ptr<const Library> library, int index, bool has_times) {
  const std::shared_ptr<Context> context(
      new Context(std::move(library), index, has_times));
  const Functions& cu = context->cu();
  EMBER_RETURN_IF_ERROR(
      context->Check("cuDeviceGet", cu.DeviceGet(&context->device_, index)));
  EMBER_ASSIGN_OR_RETURN(
      context->properties_,
      QueryProperties(cu, context->device_, context->is_emulated()));
  CUcontext handle = nullptr;
  EMBER_RETURN_IF_ERROR(
      context->Check("cuDevicePrimaryCtxRetain",
                     cu.DevicePrimaryCtxRetain(&handle, context->device_)));
  context->context_ = handle;
  const Current current(*context);
  EMBER_RETURN_IF_ERROR(current.status());
  EMBER_RETURN_IF_ERROR(
      context->Check("cuStreamCreate",
                     cu.StreamCreate(&context->stream_, kStreamNonBlocking)));
  return context;
}

Context::~Context() {
  if (context_ == nullptr) return;
  {
    const Current current(*this);
    // If the context is lost, this call returns an error, which is ignored
    // because there is nothing to wait for.
    if (current.status().ok() && stream_ != nullptr) {
      cu().StreamSynchronize(stream_);
      for (CUevent event : events_) cu().EventDestroy(event);
      cu().StreamDestroy(stream_);
    }
  }
  cu().DevicePrimaryCtxRelease(device_);
}

Status Context::Check(std::string_view call, CUresult result) {
  if (result == kSuccess) return OkStatus();
  Status status =
      ResultStatus(call, result)
          .WithContext(Concat({"cuda device '", properties_.name, "'"}));
  if (!IsLost(result)) return status;
  return loss_.Note(status);
}

Context::Current::Current(Context& context)
    : context_(context),
      status_(context.Check("cuCtxPushCurrent",
                            context.cu().CtxPushCurrent(context.handle()))) {}

Context::Current::~Current() {
  if (!status_.ok()) return;
  CUcontext popped = nullptr;
  context_.cu().CtxPopCurrent(&popped);
}

StatusOr<CUevent> Context::TakeEvent() {
  {
    const std::lock_guard<std::mutex> lock(events_mutex_);
    if (!events_.empty()) {
      const CUevent event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  EMBER_RETURN_IF_ERROR(
      Check("cuEventCreate",
            cu().EventCreate(
                &event, has_times_ ? kEventDefault : kEventDisableTiming)));
  return event;
}

void Context::GiveEvent(CUevent event) {
  const std::lock_guard<std::mutex> lock(events_mutex_);
  events_.push_back(event);
}

StatusOr<std::shared_ptr<Submission>> Context::Submit(
    const std::function<Status()>& enqueue) {
  EMBER_RETURN_IF_ERROR(Alive());
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  const Current current(*this);
  EMBER_RETURN_IF_ERROR(current.status());
  CUevent begin = nullptr;
  if (has_times_) {
    EMBER_ASSIGN_OR_RETURN(begin, TakeEvent());
  }
  StatusOr<CUevent> end = TakeEvent();
  if (!end.ok()) {
    if (begin != nullptr) GiveEvent(begin);
    return end.status();
  }
  // From here on the submission owns the events and returns them when it is
  // destroyed.
  auto submission =
      std::make_shared<Submission>(shared_from_this(), begin, *end);
  Status status;
  if (begin != nullptr)
    status = Check("cuEventRecord", cu().EventRecord(begin, stream_));
  if (status.ok()) status = enqueue();
  if (status.ok())
    status = Check("cuEventRecord", cu().EventRecord(*end, stream_));
  if (status.ok()) return submission;
  // After an error, part of the work may be running already. No submission is
  // returned that a caller could wait for, so the stream is awaited here.
  cu().StreamSynchronize(stream_);
  return status;
}

void Context::Finish() {
  const Current current(*this);
  if (current.status().ok()) cu().StreamSynchronize(stream_);
}

Submission::~Submission() {
  context_->GiveEvent(end_);
  if (begin_ != nullptr) context_->GiveEvent(begin_);
}

Status Submission::Wait() {
  if (is_done_.load(std::memory_order_acquire)) return OkStatus();
  EMBER_RETURN_IF_ERROR(context_->Alive());
  const Context::Current current(*context_);
  EMBER_RETURN_IF_ERROR(current.status());
  EMBER_RETURN_IF_ERROR(context_->Check("cuEventSynchronize",
                                        context_->cu().EventSynchronize(end_)));
  is_done_.store(true, std::memory_order_release);
  return OkStatus();
}

bool Submission::IsDone() {
  if (is_done_.load(std::memory_order_acquire)) return true;
  if (!context_->Alive().ok()) return true;
  const Context::Current current(*context_);
  if (!current.status().ok()) return !context_->Alive().ok();
  const CUresult result = context_->cu().EventQuery(end_);
  if (result == kNotReady) return false;
  if (!context_->Check("cuEventQuery", result).ok())
    return !context_->Alive().ok();
  is_done_.store(true, std::memory_order_release);
  return true;
}

StatusOr<double> Submission::Milliseconds() {
  if (begin_ == nullptr) {
    return UnimplementedError(
        "cuda device: expected DeviceOptions::timestamps, found none");
  }
  EMBER_RETURN_IF_ERROR(Wait());
  const Context::Current current(*context_);
  EMBER_RETURN_IF_ERROR(current.status());
  float milliseconds = 0;
  EMBER_RETURN_IF_ERROR(context_->Check(
      "cuEventElapsedTime",
      context_->cu().EventElapsedTime(&milliseconds, begin_, end_)));
  return double{milliseconds};
}

}  // namespace ember::hal::cuda

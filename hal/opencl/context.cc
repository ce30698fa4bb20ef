#include "hal/opencl/context.h"

#include <utility>

#include "base/concat.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {

StatusOr<std::shared_ptr<Context>> Context::Create(
    std::shared_ptr<const Library> library, size_t index, bool has_times) {
  const std::shared_ptr<Context> context(
      new Context(std::move(library), index, has_times));
  const Functions& cl = context->cl();
  cl_int result = kSuccess;
  context->context_ = cl.CreateContext(nullptr, 1, &context->device_.id,
                                       nullptr, nullptr, &result);
  EMBER_RETURN_IF_ERROR(context->Check("clCreateContext", result));
  context->queue_ =
      cl.CreateCommandQueue(context->context_, context->device(),
                            has_times ? kQueueProfiling : 0, &result);
  EMBER_RETURN_IF_ERROR(context->Check("clCreateCommandQueue", result));
  return context;
}

Context::~Context() {
  if (queue_ != nullptr) {
    Finish();
    cl().ReleaseCommandQueue(queue_);
  }
  if (context_ != nullptr) cl().ReleaseContext(context_);
}

Status Context::Check(std::string_view call, cl_int result) {
  if (result == kSuccess) return OkStatus();
  Status status =
      ResultStatus(call, result)
          .WithContext(Concat({"opencl device '", properties().name, "'"}));
  return IsLost(result) ? loss_.Note(status) : status;
}

Status Context::CheckWait(std::string_view call, cl_int result) {
  if (result == kSuccess) return OkStatus();
  return loss_.Note(
      ResultStatus(call, result)
          .WithContext(Concat({"opencl device '", properties().name, "'"})));
}

StatusOr<cl_event> Context::EnqueueMarker() {
  cl_event event = nullptr;
  EMBER_RETURN_IF_ERROR(
      Check("clEnqueueMarkerWithWaitList",
            cl().EnqueueMarkerWithWaitList(queue_, 0, nullptr, &event)));
  return event;
}

StatusOr<std::shared_ptr<Submission>> Context::Submit(
    const std::function<Status()>& enqueue) {
  EMBER_RETURN_IF_ERROR(Alive());
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  cl_event begin = nullptr;
  if (has_times_) {
    EMBER_ASSIGN_OR_RETURN(begin, EnqueueMarker());
  }
  Status status = enqueue();
  if (status.ok()) {
    StatusOr<cl_event> end = EnqueueMarker();
    if (end.ok()) {
      // From here on the submission owns the events and releases them.
      auto submission =
          std::make_shared<Submission>(shared_from_this(), begin, *end);
      begin = nullptr;
      status = Check("clFlush", cl().Flush(queue_));
      if (status.ok()) return submission;
    } else {
      status = end.status();
    }
  }
  // Some of the work may be running although there is no submission that could
  // wait for it, so the queue is awaited here.
  if (begin != nullptr) cl().ReleaseEvent(begin);
  Finish();
  return status;
}

void Context::Finish() {
  // If the device is lost, its work may never complete, so it is not awaited.
  if (Alive().ok()) cl().Finish(queue_);
}

Submission::~Submission() {
  context_->cl().ReleaseEvent(end_);
  if (begin_ != nullptr) context_->cl().ReleaseEvent(begin_);
}

Status Submission::Wait() {
  if (is_done_.load(std::memory_order_acquire)) return OkStatus();
  EMBER_RETURN_IF_ERROR(context_->Alive());
  EMBER_RETURN_IF_ERROR(context_->CheckWait(
      "clWaitForEvents", context_->cl().WaitForEvents(1, &end_)));
  is_done_.store(true, std::memory_order_release);
  return OkStatus();
}

bool Submission::IsDone() {
  if (is_done_.load(std::memory_order_acquire)) return true;
  if (!context_->Alive().ok()) return true;
  cl_int state = kComplete;
  if (!context_
           ->Check("clGetEventInfo",
                   context_->cl().GetEventInfo(end_, kEventExecutionStatus,
                                               sizeof state, &state, nullptr))
           .ok())
    return !context_->Alive().ok();
  if (state > kComplete) return false;
  // A negative state means that the commands ended with an error. They are
  // done, but not marked as such, so that Wait still finds and returns the
  // error.
  if (state == kComplete) is_done_.store(true, std::memory_order_release);
  return true;
}

StatusOr<double> Submission::Milliseconds() {
  if (begin_ == nullptr) {
    return UnimplementedError(
        "opencl device: expected DeviceOptions::timestamps, found none");
  }
  EMBER_RETURN_IF_ERROR(Wait());
  cl_ulong times[2] = {};
  const cl_event events[] = {begin_, end_};
  for (size_t i = 0; i < 2; ++i) {
    EMBER_RETURN_IF_ERROR(context_->Check(
        "clGetEventProfilingInfo", context_->cl().GetEventProfilingInfo(
                                       events[i], kProfilingCommandEnd,
                                       sizeof times[i], &times[i], nullptr)));
  }
  constexpr double kNanosecondsPerMillisecond = 1e6;
  return static_cast<double>(times[1] - times[0]) / kNanosecondsPerMillisecond;
}

}  // namespace ember::hal::opencl

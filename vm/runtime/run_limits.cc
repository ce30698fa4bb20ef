#include "vm/runtime/run_limits.h"

#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/runtime/default_limits.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {
namespace {

// Returns the limit that an option sets. If the option is 0, returns
// `otherwise`; if it is negative, INT64_MAX, which means no limit.
int64_t LimitOf(int64_t option, int64_t otherwise) {
  if (option < 0) return INT64_MAX;
  return option > 0 ? option : otherwise;
}

}  // namespace

RunLimits::RunLimits(const Options& options, Interrupt& interrupt)
    : work_limit_(LimitOf(options.work_limit, kDefaultWorkLimit)),
      step_limit_(LimitOf(options.step_limit, kDefaultStepLimit)),
      begins_cancelled_(options.begins_cancelled),
      interrupt_(interrupt),
      max_seconds_(options.max_seconds) {}

void RunLimits::Start() {
  work_left_ = work_limit_;
  steps_left_ = step_limit_;
  int64_t deadline = 0;
  // Longest time in seconds for which a deadline is set. The deadline of a
  // longer one would not fit int64 nanoseconds.
  constexpr double kMaxSeconds = 1e9;
  if (max_seconds_ > 0 && max_seconds_ < kMaxSeconds)
    deadline = SteadyNanoseconds() + static_cast<int64_t>(max_seconds_ * 1e9);
  interrupt_.Start(deadline, max_seconds_);
  if (begins_cancelled_ != nullptr && begins_cancelled_->load())
    interrupt_.Cancel();
}

Status RunLimits::StepError(const Program& program) const {
  if (interrupt_.ShouldStop()) return interrupt_.status();
  return ResourceExhaustedError(
      Concat({"program ", program.name, ": expected at most ", step_limit_,
              " backward branches and calls (--max-steps), found more"}));
}

Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most) {
  return ResourceExhaustedError(
      Concat({"dispatch @", dispatch.name, ": expected at most ", most,
              " points that the run may still evaluate (--max-work), found ",
              points}));
}

Status RunLimits::WorkError(const tensor::Dispatch& dispatch,
                            int64_t points) const {
  return TooManyPoints(dispatch, points, work_left_ + points);
}

Status RunLimits::WorkError(std::string_view kind,
                            std::string_view name) const {
  return ResourceExhaustedError(
      Concat({kind, name, ": expected work of at most ", work_limit_,
              " points in the run (--max-work), found more"}));
}

Status RunLimits::TakeCopy(const Program& program, int64_t bytes) {
  return TakeBytes(bytes, "program ", program.name);
}

Status RunLimits::TakeClear(int64_t bytes) {
  return TakeBytes(bytes, "clearing ", "memory that nothing has written");
}

Status RunLimits::TakeText(int64_t bytes) {
  if (interrupt_.ShouldStop()) return interrupt_.status();
  // `bytes` is compared with the limit before 1 is added, because it may be
  // INT64_MAX.
  if (bytes < work_left_ && TakeWork(bytes + 1)) return OkStatus();
  work_left_ = -1;
  return WorkError("strings", "");
}

Status RunLimits::TakeBytes(int64_t bytes, std::string_view kind,
                            std::string_view name) {
  constexpr int64_t kCacheLine = 64;
  if (interrupt_.ShouldStop()) return interrupt_.status();
  if (TakeWork(bytes / kCacheLine)) return OkStatus();
  return WorkError(kind, name);
}

}  // namespace ember::vm

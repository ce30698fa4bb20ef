#include "tools/compiler_api/step_guard.h"

#include <cstdio>

#include "tools/lib/cli/process_memory.h"

namespace ember::compiler_api {

StepGuard::StepGuard(const StepLimits& limits)
    : limits_(limits),
      start_(std::chrono::steady_clock::now()),
      bytes_before_(limits.memory_limit > 0 ? tools::WritableBytes() : 0) {}

Status StepGuard::Check() {
  if (limits_.cancel != nullptr &&
      limits_.cancel->load(std::memory_order_relaxed)) {
    return CancelledError("the compilation was cancelled by its token");
  }
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - start_;
  if (limits_.max_seconds > 0 && time.count() > limits_.max_seconds) {
    char text[128];
    std::snprintf(text, sizeof(text),
                  "expected compiling to take at most %g s (max_seconds), "
                  "found it running after %.3g s",
                  limits_.max_seconds, time.count());
    return ResourceExhaustedError(text);
  }
  if (limits_.memory_limit <= 0) return OkStatus();
  const int64_t bytes = tools::WritableBytes() - bytes_before_;
  if (bytes <= limits_.memory_limit) return OkStatus();
  return ResourceExhaustedError("expected compiling to take at most " +
                                std::to_string(limits_.memory_limit) +
                                " bytes more (memory_limit), found " +
                                std::to_string(bytes));
}

bool StepGuard::Report(const ProgressEvent& event) {
  stage_ = event.stage;
  item_ = event.item;
  if (stopped_.ok()) stopped_ = Check();
  if (!stopped_.ok()) return false;
  return limits_.listener == nullptr || limits_.listener->Report(event);
}

Status StepGuard::Reason(const Status& status) const {
  return stopped_.ok() ? status : stopped_;
}

}  // namespace ember::compiler_api

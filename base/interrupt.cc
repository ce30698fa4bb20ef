#include "base/interrupt.h"

#include <chrono>
#include <string>

namespace ember {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Interrupt::Start(int64_t deadline_ns, double seconds) {
  deadline_ns_ = deadline_ns;
  seconds_ = seconds;
  state_.store(kRuns, std::memory_order_relaxed);
}

void Interrupt::Stop(State reason) const {
  State expected = kRuns;
  state_.compare_exchange_strong(expected, reason, std::memory_order_relaxed);
}

bool Interrupt::IsLate() const {
  if (Now() < deadline_ns_) return false;
  Stop(kLate);
  return true;
}

Status Interrupt::status() const {
  switch (state_.load(std::memory_order_relaxed)) {
    case kRuns:
      break;
    case kCancelled:
      return CancelledError("run: cancelled");
    case kLate: {
      const std::string milliseconds =
          std::to_string(static_cast<int64_t>(seconds_ * 1000));
      return ResourceExhaustedError(
          "run: expected it to end within " + milliseconds +
          " ms (--max-seconds), found it still running");
    }
  }
  return OkStatus();
}

}  // namespace ember

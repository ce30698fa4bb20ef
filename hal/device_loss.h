// Stores the error with which a device was lost. The first call that finds the
// loss records the reason, and from then on every call on the device returns
// this error.
//
//   Status Context::Check(std::string_view call, Result result) {
//     if (result == kSuccess) return OkStatus();
//     const Status status = ResultStatus(call, result);
//     return IsLost(result) ? loss_.Note(status) : status;
//   }
//   EMBER_RETURN_IF_ERROR(loss_.status());
//
// Thread-safe.
#ifndef EMBER_HAL_DEVICE_LOSS_H_
#define EMBER_HAL_DEVICE_LOSS_H_

#include <atomic>
#include <mutex>

#include "base/concat.h"
#include "base/status.h"

namespace ember::hal {

class DeviceLoss {
 public:
  // Records that the device is lost, with the error of the call that found it.
  // Only the first error is kept. Returns the status that every call returns
  // from now on.
  Status Note(const Status& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!is_lost_.load(std::memory_order_relaxed)) {
      error_ = FailedPreconditionError(Concat(
          {error.message(), ": the device is lost; a new one has to be made"}));
      is_lost_.store(true, std::memory_order_release);
    }
    return error_;
  }

  // Returns OK, or the stored error if the device is lost.
  Status status() const {
    if (!is_lost_.load(std::memory_order_acquire)) return OkStatus();
    const std::lock_guard<std::mutex> lock(mutex_);
    return error_;
  }

 private:
  std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;  // guards status_
  Status error_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_LOSS_H_

// Counts the bytes of a device's buffers and refuses buffers that would exceed
// the device's limit. Several drivers use this class.
//
//   EMBER_RETURN_IF_ERROR(counter.Take(bytes));   // before allocating
//   counter.Give(bytes);                          // when freed
//
// Thread-safe.
#ifndef EMBER_HAL_MEMORY_COUNTER_H_
#define EMBER_HAL_MEMORY_COUNTER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

class MemoryCounter {
 public:
  // Makes a counter with the value 0. `limit` is in bytes; 0 means no limit.
  explicit MemoryCounter(int64_t limit)
      : limit_(limit > 0 ? limit : INT64_MAX) {}

  // Adds bytes to the counter. If the sum exceeds the limit or `bytes` is
  // negative, returns an error and adds nothing. `is_hidden` is true if the
  // host cannot access the memory.
  Status Take(int64_t bytes, bool is_hidden = false) {
    if (bytes < 0) {
      return InvalidArgumentError(
          "buffer: expected a size of at least 0, found " +
          std::to_string(bytes));
    }
    int64_t live = live_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - live) {
        return ResourceExhaustedError(
            "buffer: expected at most " + std::to_string(limit_ - live) +
            " more bytes of device memory, found a request for " +
            std::to_string(bytes));
      }
    } while (!live_.compare_exchange_weak(live, live + bytes,
                                          std::memory_order_relaxed));
    Raise(peak_, live + bytes);
    if (is_hidden) {
      Raise(hidden_peak_,
            hidden_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
    }
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return OkStatus();
  }
  void Give(int64_t bytes, bool is_hidden = false) {
    live_.fetch_sub(bytes, std::memory_order_relaxed);
    if (is_hidden) hidden_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  MemoryStatistics statistics() const {
    return {live_.load(std::memory_order_relaxed),
            peak_.load(std::memory_order_relaxed),
            allocations_.load(std::memory_order_relaxed),
            hidden_peak_.load(std::memory_order_relaxed)};
  }

 private:
  static void Raise(std::atomic<int64_t>& peak, int64_t bytes) {
    int64_t known = peak.load(std::memory_order_relaxed);
    while (known < bytes && !peak.compare_exchange_weak(
                                known, bytes, std::memory_order_relaxed)) {
    }
  }

  const int64_t limit_;
  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> hidden_{0};
  std::atomic<int64_t> hidden_peak_{0};
  std::atomic<int64_t> allocations_{0};
};

}  // namespace ember::hal

#endif  // EMBER_HAL_MEMORY_COUNTER_H_

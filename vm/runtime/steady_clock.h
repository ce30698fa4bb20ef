// The clock with which sessions measure time.
#ifndef EMBER_VM_RUNTIME_STEADY_CLOCK_H_
#define EMBER_VM_RUNTIME_STEADY_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace ember::vm {

// Returns nanoseconds since a fixed moment; the number never decreases.
inline int64_t SteadyNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_STEADY_CLOCK_H_

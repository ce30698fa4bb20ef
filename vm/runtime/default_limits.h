// The default limits of a session: the same in C++, in the C API and in tools.
#ifndef EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_
#define EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_

#include <cstdint>

namespace ember::vm {

// Largest number of points that a run may evaluate. Evaluating this number
// takes hours on a fast machine.
inline constexpr int64_t kDefaultWorkLimit = int64_t{1} << 48;
// Largest number of steps of a run's program. A program that only executes
// steps reaches the limit within a minute.
inline constexpr int64_t kDefaultStepLimit = int64_t{1} << 32;

// Returns the bytes of the machine's memory, or the memory limit of the
// process's control group if that is less. Returns INT64_MAX if neither is
// known.
int64_t DefaultMemoryLimit();

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_

// What a session takes at most where nobody says otherwise: the same in C++, in
// the C API and in tools.
#ifndef EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_
#define EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_

#include <cstdint>

namespace ember::vm {

// Points of a run: hours of a fast machine.
inline constexpr int64_t kDefaultWorkLimit = int64_t{1} << 48;
// Steps of a run's program: one that does nothing else ends within a minute.
inline constexpr int64_t kDefaultStepLimit = int64_t{1} << 32;

// Bytes: what the machine has, or less where its control group says so.
// INT64_MAX where nothing is known.
int64_t DefaultMemoryLimit();

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEFAULT_LIMITS_H_

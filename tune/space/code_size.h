// Estimates the amount of code of a nest before it is compiled: compile time
// grows with it, faster than linearly.
//
//   if (CodeSize(nest) > most) return ResourceExhaustedError(...);
//
// Thread-safe.
#ifndef EMBER_TUNE_SPACE_CODE_SIZE_H_
#define EMBER_TUNE_SPACE_CODE_SIZE_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::tune {

// Returns the number of scalar or vector stores that the nest's code contains
// after unrolling. A vector loop counts as one for each 16 elements.
int64_t CodeSize(const loops::LoopNest& nest);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_CODE_SIZE_H_

// Estimates how much code a nest will have, before it is compiled, so that huge
// candidates can be refused: compile time grows faster than linearly with code
// size.
//
//   if (CodeSize(nest) > most) return ResourceExhaustedError(...);
//
// Thread-safe.
#ifndef EMBER_TUNE_SPACE_CODE_SIZE_H_
#define EMBER_TUNE_SPACE_CODE_SIZE_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::tune {

// Returns the approximate number of scalar or vector stores in the nest's code
// after unrolling. A vector loop is counted as one store for each 16 elements.
int64_t CodeSize(const loops::LoopNest& nest);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_CODE_SIZE_H_

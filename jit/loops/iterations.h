// How often the loops of one invocation turn in a task: an upper bound, for
// drivers that end loops after some number of turns.
//
//   MostIterations(nest, phase.body, parameters);   // of this call
//   MostIterations(nest, phase.body, {});           // of any call
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ITERATIONS_H_
#define EMBER_JIT_LOOPS_ITERATIONS_H_

#include <cstdint>
#include <span>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Of all serial loops, one in another counted as often as it runs; unrolled
// loops and lanes are written out, matrices are one instruction, and each value
// of an invocation or subgroup loop is another invocation's. The turn in which
// a loop ends is counted, too: lanes of a CPU's vectors, which are the
// invocations of such a driver, go through its body being off, and so once
// through each loop in there, as they do behind a condition that does not hold.
// So `for a < N { for b < 1 }` is 3 * N + 2. parameters: the nest's, or none if
// they are not known. At most 2^40.
int64_t MostIterations(const LoopNest& nest, const Block& block,
                       std::span<const int64_t> parameters);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ITERATIONS_H_

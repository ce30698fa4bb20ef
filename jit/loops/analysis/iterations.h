// Bounds how many iterations the loops of one invocation make in a task. For
// drivers that end loops after a fixed number of iterations.
//
//   MostIterations(nest, phase.body, parameters);   // of this call
//   MostIterations(nest, phase.body, {});           // of any call
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_ITERATIONS_H_
#define EMBER_JIT_LOOPS_ANALYSIS_ITERATIONS_H_

#include <cstdint>
#include <span>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Returns an upper bound of the iterations of all serial loops, where an inner
// loop counts each time it runs. At most 2^40. parameters: those of the nest,
// or none if they are not known.
//
// These loops do not count: unrolled loops and lanes, matrices, which are one
// instruction, and loops over invocations or subgroups, each of whose values
// belongs to another invocation. The iteration that finds a loop's end counts
// too. On drivers whose invocations are lanes of a CPU's vectors, a lane that
// has left a loop goes through its body masked off, and so once through each
// loop in there, as it does behind a condition that does not hold. So `for a <
// N { for b < 1 }` counts 3 * N + 2.
int64_t MostIterations(const LoopNest& nest, const Block& block,
                       std::span<const int64_t> parameters);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_ITERATIONS_H_

// Bounds how many iterations the loops of one invocation make in a task. Some
// drivers end loops after a fixed number of iterations, so a kernel must not
// exceed it.
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

// Returns an upper bound of the iterations of all serial loops together; an
// inner loop counts each time it runs. The result is at most 2^40.
// `parameters`: the values of the nest's parameters, or none if they are not
// known.
//
// Unrolled loops, vector loops and matrix loops do not count, because they
// become straight code. Loops over invocations and subgroups do not count,
// because each value belongs to another invocation.
//
// The pass through a loop's condition that ends the loop counts as an
// iteration. On drivers that run invocations as lanes of a CPU's vectors, a
// lane that has left a loop still passes through its body masked off, and
// counts one iteration for each loop inside. So `for a < N { for b < 1 }`
// counts 3 * N + 2.
int64_t MostIterations(const LoopNest& nest, const Block& block,
                       std::span<const int64_t> parameters);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_ITERATIONS_H_

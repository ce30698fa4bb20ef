// What stands in subgroup loops, and who accesses accumulators. Internal to the
// verifier.
#ifndef EMBER_JIT_LOOPS_VERIFIER_MATRICES_H_
#define EMBER_JIT_LOOPS_VERIFIER_MATRICES_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Of a nest that is right in everything else.
Status CheckMatrices(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_MATRICES_H_

// The rules of matrix loops: what stands in subgroup loops, and who accesses
// accumulators. A part of the verifier, which lowering asks, too.
//
//   CheckMatrices(nest)   // "phase 0: a matrix loop: expected one store of one
//                         // value"
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_MATRIX_RULES_H_
#define EMBER_JIT_LOOPS_MATRIX_RULES_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Of a nest that is right in everything else. kInvalidArgument with one line.
Status CheckMatrices(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_MATRIX_RULES_H_

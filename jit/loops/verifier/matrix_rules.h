// Checks the rules of matrix loops: which statements a subgroup loop may
// contain, and which may access accumulators. The verifier and lowering call
// this check.
//
//   CheckMatrices(nest)   // "phase 0: a matrix loop: expected one store of one
//                         // value"
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_VERIFIER_MATRIX_RULES_H_
#define EMBER_JIT_LOOPS_VERIFIER_MATRIX_RULES_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Checks the rules of matrix loops in a nest that obeys all other rules of the
// verifier. Errors: kInvalidArgument with a message of one line.
Status CheckMatrices(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_MATRIX_RULES_H_

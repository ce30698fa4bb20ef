// Legalisation: rewrites a loop nest to compute the same with operations that a
// target has. Its back end then only prints instructions and decides nothing
// about their meaning.
//
//   loops::LoopNest legal = nest;
//   legalise::Legalise(operations, legal);
//
// Statements, loops and loads stay; the rules of jit/legalise/rules.h rewrite
// expressions. An update (`+=`) stays one, since the back end decides who
// stores how; its computation is a Formula (jit/legalise/formula.h). Legal
// expressions are not changed.
//
// Thread-safe.
#ifndef EMBER_JIT_LEGALISE_LEGALISE_H_
#define EMBER_JIT_LEGALISE_LEGALISE_H_

#include "jit/legalise/legaliser.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::legalise {

// Legalises the nest, which must be verified. range_of: returns the range of
// i64 nodes of the nest, including those that are added to its pool. Without
// it, ranges are those in the pool and those that follow from extents of inputs
// and outputs (jit/loops/analysis/facts.h).
void Legalise(const TargetOperations& operations, loops::LoopNest& nest);
void Legalise(const TargetOperations& operations, loops::LoopNest& nest,
              const RangeOf& range_of);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_LEGALISE_H_

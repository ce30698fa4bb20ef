// Legalisation rewrites a loop nest so that it computes the same values only by
// operations that the target has. The back end then translates each instruction
// one to one.
//
//   loops::LoopNest legal = nest;
//   legalise::Legalise(operations, legal);
//
// Statements, loops and loads stay; the rules of jit/legalise/rules.h rewrite
// expressions. An update (`+=`) stays an update, since the back end decides how
// it is performed; the back end expands its operation by a Formula
// (jit/legalise/formula.h). Expressions that are legal already are not changed.
//
// Thread-safe.
#ifndef EMBER_JIT_LEGALISE_LEGALISE_H_
#define EMBER_JIT_LEGALISE_LEGALISE_H_

#include "jit/legalise/legaliser.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::legalise {

// Legalises the nest, which must be verified. range_of(id) returns the range of
// an i64 node, also of nodes that legalisation adds to the pool. Without
// range_of, ranges come from the pool and from extents of inputs and outputs
// (jit/loops/analysis/facts.h).
void Legalise(const TargetOperations& operations, loops::LoopNest& nest);
void Legalise(const TargetOperations& operations, loops::LoopNest& nest,
              const RangeOf& range_of);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_LEGALISE_H_

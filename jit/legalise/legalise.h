// Legalisation: a loop nest becomes one that computes the same with operations
// that a target has, so that its back end prints instructions and decides
// nothing about what they mean.
//
//   loops::LoopNest legal = nest;
//   legalise::Legalise(operations, legal);
//
// Statements, loops and loads stay; expressions are rewritten by the rules of
// jit/legalise/rules.h. An update (`+=`) stays one, as who stores how is the
// back end's matter: what it computes is a Formula (jit/legalise/formula.h).
// What is legal already is not changed.
//
// Thread-safe.
#ifndef EMBER_JIT_LEGALISE_LEGALISE_H_
#define EMBER_JIT_LEGALISE_LEGALISE_H_

#include "jit/legalise/legaliser.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::legalise {

// The nest is verified. range_of: what is known of i64 nodes of the nest, also
// of those that are added to its pool meanwhile; without it, what the pool
// knows and what follows from extents of inputs and outputs
// (jit/loops/facts.h).
void Legalise(const TargetOperations& operations, loops::LoopNest& nest);
void Legalise(const TargetOperations& operations, loops::LoopNest& nest,
              const RangeOf& range_of);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_LEGALISE_H_

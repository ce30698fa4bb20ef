// Marks in the nest which i64 nodes may not fit 32 bits (loops::LoopNest::wide)
// and which comparisons each bounds test needs (loops::BoundsTest), according
// to the ranges of nodes. Back ends that compute in 32 bits rely on the marks
// and analyse nothing.
//
//   MarkIntegers(range_of, nest);
//
//   for i < N { %y[i] = pad(%x[i - 1, 3], 0.0) }       // of f32[N, 8] %x
//     // becomes, if N may be large:
//     // for i < wide(N) wide { %y[i] = pad(%x[wide(i - 1), 3], 0.0, unsigned, none) }
//
// Thread-safe for distinct nests.
#ifndef EMBER_JIT_LEGALISE_MARK_INTEGERS_H_
#define EMBER_JIT_LEGALISE_MARK_INTEGERS_H_

#include "jit/legalise/legalise.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::legalise {

// Marks the nest. range_of(id) returns the range of an i64 node, as in
// Legalise.
void MarkIntegers(const RangeOf& range_of, loops::LoopNest& nest);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_MARK_INTEGERS_H_

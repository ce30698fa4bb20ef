// Says in the nest which i64 values may not fit 32 bits
// (loops::LoopNest::wide), and which tests of bounds code must do, from the
// ranges of nodes. So back ends that compute in 32 bits find out nothing
// themselves.
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

// range_of: returns the range of an i64 node, as in Legalise.
void MarkIntegers(const RangeOf& range_of, loops::LoopNest& nest);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_MARK_INTEGERS_H_

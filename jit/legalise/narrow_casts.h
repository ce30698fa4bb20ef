// Expresses casts and bitcasts from or to a narrow float by those of f32 and by
// integers:
//
//   f64(h)    ->  f64(f32(h))
//   f16(i)    ->  f16(a float that rounds as i does), for i of 32 bits and more
//   bf16(x)   ->  raw(bf16(x, with 16 bits rounded off as an integer))
//   f16(x)    ->  the bits of f16 in integers    unless half_conversions
//   f8e5m2(x) ->  its bits in integers           f8e4m3fn: the same
//
// An integer or f64 is converted to a narrow float through f32. To round only
// once, the f32 is truncated, and its last bit is set if that lost anything
// ("odd").
#ifndef EMBER_JIT_LEGALISE_NARROW_CASTS_H_
#define EMBER_JIT_LEGALISE_NARROW_CASTS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> NarrowCasts(Legaliser& legaliser,
                                  const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_NARROW_CASTS_H_

// What C11 has, for legalisation (jit/legalise): what every compiler makes an
// instruction of, or a few, and never a call of a library that processors
// without such an instruction would have to bring along, but for rounding.
#ifndef EMBER_JIT_C_TARGET_OPERATIONS_H_
#define EMBER_JIT_C_TARGET_OPERATIONS_H_

#include "jit/legalise/target_operations.h"

namespace ember::jit::c {

inline constexpr legalise::TargetOperations kOperations = {
    // There are no floats of 16 bits: they are computed in f32, and converted
    // in integers.
    .half_conversions = false,
    .half_sums = false,
    .wide_halves = false,
    .narrow_integers = true,
    .bool_casts = true,
    // Since C99 a quotient is rounded toward 0.
    .signed_remainders = true,
    // What C leaves open, legalisation writes out.
    .saturating_casts = false,
    // fmin is one, but most compilers call it.
    .number_extremes = false,
    // floor, ceil, trunc and nearbyint.
    .rounding_f32 = true,
    .rounding_f64 = true,
    // Many small processors have f32 only.
    .cheap_doubles = false,
    .matrix_loops = false,
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TARGET_OPERATIONS_H_

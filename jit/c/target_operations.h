// Lists the operations of C11 for legalisation (jit/legalise): those for which
// every compiler emits one instruction, or a few. Except for rounding, none may
// call a library, which processors without such an instruction would have to
// ship.
#ifndef EMBER_JIT_C_TARGET_OPERATIONS_H_
#define EMBER_JIT_C_TARGET_OPERATIONS_H_

#include "jit/legalise/target_operations.h"

namespace ember::jit::c {

inline constexpr legalise::TargetOperations kOperations = {
    // C has no floats of 16 bits: they are computed in f32, and converted in
    // integers.
    .half_conversions = false,
    .half_sums = false,
    .wide_halves = false,
    .narrow_integers = true,
    .bool_casts = true,
    // Since C99 a quotient is rounded toward 0.
    .signed_remainders = true,
    // Legalisation writes out casts that C leaves undefined.
    .saturating_casts = false,
    // fmin ignores NaNs, but most compilers call a function for it.
    .number_extremes = false,
    // Rounding calls floor, ceil, trunc and nearbyint.
    .rounding_f32 = true,
    .rounding_f64 = true,
    // Many small processors have f32 only.
    .cheap_doubles = false,
    .matrix_loops = false,
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TARGET_OPERATIONS_H_

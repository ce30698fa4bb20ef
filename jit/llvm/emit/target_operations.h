// Returns the operations that LLVM has for a machine, so that legalisation
// (jit/legalise) replaces all others.
#ifndef EMBER_JIT_LLVM_EMIT_TARGET_OPERATIONS_H_
#define EMBER_JIT_LLVM_EMIT_TARGET_OPERATIONS_H_

#include "jit/legalise/target_operations.h"
#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

inline legalise::TargetOperations OperationsOf(const TargetTraits& traits) {
  return {
      .half_conversions = traits.has_half_conversion,
      // The nest computes sums of f16 in f32. If has_half_arithmetic is set,
      // LLVM's passes narrow them to f16.
      .half_sums = false,
      .wide_halves = false,
      .narrow_integers = true,
      .bool_casts = true,
      .signed_remainders = true,
      // LLVM's saturating casts are not used: on x86, fptosi.sat of a vector
      // converts its lanes one by one.
      .saturating_casts = false,
      // A CPU whose minima and maxima propagate NaNs (WebAssembly) has none
      // that ignore NaNs; GPUs have both kinds.
      .number_extremes =
          traits.has_rounding && (traits.is_gpu || !traits.has_nan_extremes),
      .nan_extremes = traits.has_nan_extremes,
      .rounding_f32 = traits.has_rounding,
      .rounding_f64 = traits.has_rounding,
      .cheap_doubles = true,
      .exponentials = traits.has_exponential,
      .matrix_loops = false,
  };
}

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_TARGET_OPERATIONS_H_

// Lists the operations that LLVM has for a machine, for legalisation
// (jit/legalise).
#ifndef EMBER_JIT_LLVM_EMIT_TARGET_OPERATIONS_H_
#define EMBER_JIT_LLVM_EMIT_TARGET_OPERATIONS_H_

#include "jit/legalise/target_operations.h"
#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

inline legalise::TargetOperations OperationsOf(const TargetTraits& traits) {
  return {
      .half_conversions = traits.has_half_conversion,
      // Sums of f16 are computed in f32; LLVM's passes narrow them to f16 if
      // has_half_arithmetic is set.
      .half_sums = false,
      .wide_halves = false,
      .narrow_integers = true,
      .bool_casts = true,
      .signed_remainders = true,
      // Saturating casts are not used: on x86, fptosi.sat of vectors handles
      // their lanes one by one.
      .saturating_casts = false,
      // A CPU with extremes that propagate NaNs lacks the others
      // (WebAssembly); GPUs have both.
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

// Returns the operations that SPIR-V code has on a device, so that legalisation
// (jit/legalise) replaces all others.
#ifndef EMBER_JIT_SPIRV_TARGET_OPERATIONS_H_
#define EMBER_JIT_SPIRV_TARGET_OPERATIONS_H_

#include "jit/legalise/target_operations.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

inline legalise::TargetOperations OperationsOf(const Target& target) {
  // The device's casts to f16 are used only if they round to nearest even (rte)
  // and numbers that are too large become infinities (nan). Otherwise
  // legalisation replaces them.
  const bool rounds_halves = target.float16.rte && target.float16.nan;
  return {
      .half_conversions = rounds_halves,
      .half_sums = target.f16 && rounds_halves,
      // Registers hold values of f16 and bf16 as f32 (jit/spirv/conversions.h).
      .wide_halves = true,
      .narrow_integers = false,
      .bool_casts = false,
      // Vulkan defines remainders of negative operands only since
      // VK_KHR_maintenance8.
      .signed_remainders = false,
      .saturating_casts = false,
      .number_extremes = false,
      .rounding_f32 = true,
      // Rounding instructions of f64 are not used, because Mesa's lavapipe 22.3
      // accepts the instruction but does not round.
      .rounding_f64 = false,
      .cheap_doubles = false,
      .matrix_loops = true,
  };
}

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TARGET_OPERATIONS_H_

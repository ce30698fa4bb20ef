// The features of a device that SPIR-V code may use, read from its target
// string, which hal/vulkan/features.h defines.
//
//   Target target = Target::Of("vulkan1.3+int64+storage8+rte32+shared32768");
//   target.i64;            // true
//   target.shared_bytes;   // 32768
//
// A value.
#ifndef EMBER_JIT_SPIRV_TARGET_H_
#define EMBER_JIT_SPIRV_TARGET_H_

#include <cstdint>
#include <string_view>

#include "jit/gpu/device_traits.h"

namespace ember::jit::spirv {

struct Target : gpu::DeviceTraits {
  bool f64 = false;
  // Feature "f16": arithmetic of f16; memory of f16 needs feature storage16.
  bool f16 = false;
  bool unfused_fma = false;  // true if fma rounds the product, too
  bool i64 = false;          // feature "int64": arithmetic of i64
  // Feature "int8": variables of i8; memory of i8 needs feature storage8.
  bool i8 = false;
  // True if the hardware has instructions for dot products of four bytes
  // (byte_dots): for factors of one sign, and for factors of two.
  bool fast_dot = false;
  bool fast_mixed_dot = false;
  // True if modules use Vulkan's memory model (jit/spirv/memory_model.h).
  bool vulkan_memory_model = false;
  bool storage8 = false;
  bool storage16 = false;
  // Modes of floats of 16, 32 and 64 bits (SPV_KHR_float_controls).
  struct FloatModes {
    bool denorm = false;  // subnormal numbers can be kept
    // zeros keep their sign, and infinities and NaNs are preserved
    bool nan = false;
    bool rte = false;  // rounding to nearest even can be asked for
  };
  FloatModes float16, float32, float64;
  // Largest number of elements of a texel buffer, if loads from texel buffers
  // are better for memory that is only read; 0: they are not.
  int64_t texels = 0;
  static Target Of(std::string_view target);
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TARGET_H_

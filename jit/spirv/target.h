// Describes the features of a device that SPIR-V code may use. They are read
// from the device's target string, which hal/vulkan/features.h defines.
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
  // Feature "f16": the device has arithmetic of f16. Elements of f16 in memory
  // need the feature storage16.
  bool f16 = false;
  // True if the device's fma rounds the product before the sum.
  bool unfused_fma = false;
  bool i64 = false;  // Feature "int64": the device has arithmetic of i64.
  // Feature "int8": functions may have variables of i8. Elements of i8 in
  // memory need the feature storage8.
  bool i8 = false;
  // fast_dot: dot products of four bytes (byte_dots) with equal signedness are
  // hardware instructions. fast_mixed_dot: so are those of a signed and an
  // unsigned factor.
  bool fast_dot = false;
  bool fast_mixed_dot = false;
  // True if modules declare Vulkan's memory model (jit/spirv/memory_model.h).
  bool vulkan_memory_model = false;
  bool storage8 = false;
  bool storage16 = false;
  // Execution modes that the device supports for floats of 16, 32 and 64 bits
  // (SPV_KHR_float_controls).
  struct FloatModes {
    bool denorm = false;  // subnormal numbers can be preserved
    // signs of zeros, infinities and NaNs can be preserved
    bool nan = false;
    bool rte = false;  // rounding to nearest even can be requested
  };
  FloatModes float16, float32, float64;
  // Largest number of elements of a texel buffer, if read-only memory is loaded
  // faster through texel buffers; 0: it is not.
  int64_t texels = 0;
  static Target Of(std::string_view target);
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TARGET_H_

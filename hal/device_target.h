// Decides if code that was compiled for one device runs on another, from the
// texts of the two targets (base/target_text.h).
//
//   MissingOnDevice("vulkan1.3+subgroup32+shared16384",
//                   "vulkan1.3+f16+subgroup32+shared49152");   // ""
//   MissingOnDevice("sm_90a+shared232448", "sm_80+shared166912");  // "sm_90a"
//
// Thread-safe.
#ifndef EMBER_HAL_DEVICE_TARGET_H_
#define EMBER_HAL_DEVICE_TARGET_H_

#include <string>
#include <string_view>

namespace ember::hal {

// Returns a text that lists the features that code for `wanted` may use and
// `device` lacks. It is empty if the code runs on the device. Values of a
// device (shared, invocations, texels, iterations) are limits which the code's
// values must not exceed, but the size of a subgroup must be equal. A newer
// version of a family of devices runs code for an older one. An architecture
// with a letter at its end (sm_90a) runs only code for this architecture. Code
// that may multiply f32 as tf32 (JitOptions::allow_tf32) runs wherever the same
// code without this permission does. Features that this function does not know
// must be equal.
std::string MissingOnDevice(std::string_view wanted, std::string_view device);

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_TARGET_H_

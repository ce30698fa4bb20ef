// Whether code for one device runs on another, as far as the texts of their
// targets tell (base/target_text.h).
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

// What `device` lacks of what code for `wanted` may use, for people; empty if
// the code runs there. Values of a device are limits that code keeps to
// (shared, invocations, texels, iterations), but for the size of a subgroup,
// which must be that one. A newer version of a family runs code for an older
// one, and an architecture that is a name with a letter behind it (sm_90a) only
// its own. Code that may multiply f32 as tf32 (JitOptions::allow_tf32) runs
// where other code does. Features that this function does not know must be the
// same.
std::string MissingOnDevice(std::string_view wanted, std::string_view device);

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_TARGET_H_

// Metal of the system that this program runs on.
//
//   const Functions* const functions = SystemFunctions();
//   if (functions == nullptr) …   // this is no system of Apple's
//
// Thread-safe.
#ifndef EMBER_HAL_METAL_API_SYSTEM_H_
#define EMBER_HAL_METAL_API_SYSTEM_H_

#include "hal/metal/api/functions.h"

namespace ember::hal::metal {

// Returns the functions of the system's Metal; null if the program was built
// for a system without Metal (system.cc).
const Functions* SystemFunctions();

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_API_SYSTEM_H_

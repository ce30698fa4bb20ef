// Declares the fake functions of Metal (fake_metal.h), one for each row of the
// table. fake_devices.cc has those of devices, memory and programs,
// fake_encoders.cc those of command buffers and encoders.
//
//   BufferRef NewBuffer(DeviceRef device, uint64_t bytes, Storage storage) {
//     EMBER_LOCK;
//     if (Fails("NewBuffer")) return nullptr;
//     …
//   }
#ifndef EMBER_HAL_METAL_TESTING_FAKE_FUNCTIONS_H_
#define EMBER_HAL_METAL_TESTING_FAKE_FUNCTIONS_H_

#include <mutex>
#include <string_view>
#include <vector>

#include "hal/metal/api/functions.h"
#include "hal/metal/testing/fake_state.h"

// Holds the state's mutex to the end of the block.
#define EMBER_LOCK \
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex)

namespace ember::hal::metal::fake {

#define EMBER_METAL_ROW(name, result, parameters) result name parameters;
EMBER_METAL_FUNCTIONS(EMBER_METAL_ROW)
#undef EMBER_METAL_ROW

}  // namespace ember::hal::metal::fake

#endif  // EMBER_HAL_METAL_TESTING_FAKE_FUNCTIONS_H_

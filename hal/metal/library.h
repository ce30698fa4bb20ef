// The functions of Metal, and the devices that they find. The functions are
// those of the system that the program runs on, or those of the shared library
// that the environment variable EMBER_METAL_LIBRARY names: it exports
//
//   extern "C" const Functions* EmberMetalFunctions();
//
//   EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Library> library,
//                          OpenLibrary());
//   library->devices[0].ref.get();
//
// A library is never unloaded. Errors: NotFound if there is no Metal on this
// system, no device, or if all devices are too old. Thread-safe while the
// environment does not change.
#ifndef EMBER_HAL_METAL_LIBRARY_H_
#define EMBER_HAL_METAL_LIBRARY_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/api/owned.h"

namespace ember::hal::metal {

struct FoundDevice {
  Owned<DeviceRef> ref;
  DeviceFacts facts;
};

struct Library {
  const Functions& functions;
  // The devices that the driver can use, at least one: the slower one of a
  // Mac's two GPUs comes last.
  std::vector<FoundDevice> devices = {};
};

StatusOr<std::shared_ptr<const Library>> OpenLibrary();

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_LIBRARY_H_

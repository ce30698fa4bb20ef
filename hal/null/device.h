// The null driver: accepts everything that a device without memory and code can
// accept, counts it, and does nothing. A new driver starts from this skeleton;
// see README.md here.
//
// Memory has no host address. Executables are Unimplemented, as no code could
// run.
#ifndef EMBER_HAL_NULL_DEVICE_H_
#define EMBER_HAL_NULL_DEVICE_H_

#include <memory>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

StatusOr<std::shared_ptr<Device>> CreateNullDevice(
    const DeviceOptions& options);

}  // namespace ember::hal

#endif  // EMBER_HAL_NULL_DEVICE_H_

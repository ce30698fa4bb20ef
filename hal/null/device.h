// The null driver: accepts everything that a device without memory and code can
// accept, counts it, and does nothing. It is the skeleton from which a new
// driver starts; see hal/null/README.md.
//
// Its memory has no host address. Loading an executable returns Unimplemented,
// because no code could run.
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

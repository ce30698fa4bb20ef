// The drivers that this binary was linked with, by name. A line in drivers.cc
// adds one.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateDevice("cpu", {.threads = 2}));
//
// Errors: NotFound for an unknown name (lists the known ones); the driver's own
// errors, for instance if the system lacks the driver's library.
#ifndef EMBER_HAL_REGISTRY_DRIVERS_H_
#define EMBER_HAL_REGISTRY_DRIVERS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

struct Driver {
  std::string_view name;
  // Makes a device of this driver. `index` is the device's number in the result
  // of `list`.
  StatusOr<std::shared_ptr<Device>> (*create)(int index,
                                              const DeviceOptions& options);
  // Returns the devices that exist now. If there are none, returns an error
  // that says why.
  StatusOr<std::vector<DeviceDescription>> (*list)();
  std::string_view doc;
};

std::span<const Driver> AllDrivers();

// Makes a device. `device` is "NAME:INDEX" with the name of a driver, or only
// the name, which means the driver's first device. Returns InvalidArgument if
// INDEX is no number.
StatusOr<std::shared_ptr<Device>> CreateDevice(std::string_view device,
                                               const DeviceOptions& options);

}  // namespace ember::hal

#endif  // EMBER_HAL_REGISTRY_DRIVERS_H_

// The drivers that this binary was linked with, by name. Adding one is a line
// in drivers.cc.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateDevice("cpu", {.threads = 2}));
//
// Errors: NotFound for an unknown name (lists the known ones); what the driver
// says, for instance when the system lacks its library.
#ifndef EMBER_HAL_DRIVERS_H_
#define EMBER_HAL_DRIVERS_H_

#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

struct Driver {
  std::string_view name;
  StatusOr<std::shared_ptr<Device>> (*create)(const DeviceOptions& options);
  std::string_view doc;
};

std::span<const Driver> AllDrivers();

StatusOr<std::shared_ptr<Device>> CreateDevice(std::string_view driver,
                                               const DeviceOptions& options);

}  // namespace ember::hal

#endif  // EMBER_HAL_DRIVERS_H_

// The device that a command line asks for.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          OpenDevice("cpu", 2));
#ifndef EMBER_TOOLS_LIB_DEVICE_H_
#define EMBER_TOOLS_LIB_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "hal/device.h"

namespace ember::tools {

// threads = 0: one per core. Errors name the devices there are.
StatusOr<std::shared_ptr<hal::Device>> OpenDevice(const std::string& name,
                                                  int64_t threads);
// One line per driver: "cpu   what it is".
std::string ListDevices();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_DEVICE_H_

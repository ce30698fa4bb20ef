// Support for sessions on devices that are not the host.
//
//   Session::Create(module, {.device = device,
//                            .tiering = tiering,
//                            .device_support = NewDeviceSupport});
#ifndef EMBER_VM_RUNTIME_DEVICES_SESSION_H_
#define EMBER_VM_RUNTIME_DEVICES_SESSION_H_

#include <memory>

#include "vm/runtime/device_support.h"

namespace ember::vm {

// Makes the device support of a session. The type of this function is
// DeviceSupportFactory.
std::shared_ptr<DeviceSupport> NewDeviceSupport(
    std::shared_ptr<hal::Device> device, std::shared_ptr<const Module> module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_SESSION_H_

#include "hal/cpu/device.h"
#include "vm/api/parts.h"

namespace ember::api {

StatusOr<std::shared_ptr<hal::Device>> OpenHost(
    const hal::DeviceOptions& options, const HostAllocator& allocator) {
  return hal::CreateCpuDevice(options, allocator);
}

vm::SessionOptions FirstOptions() { return {}; }

std::vector<hal::DeviceDescription> ListDevices() {
  auto devices = hal::ListCpuDevices();
  return devices.ok() ? *std::move(devices)
                      : std::vector<hal::DeviceDescription>();
}

}  // namespace ember::api

#include "hal/cpu/serial_device.h"
#include "vm/api/parts.h"
#include "vm/interpreter/pointwise_plan.h"

namespace ember::api {

StatusOr<std::shared_ptr<hal::Device>> OpenHost(
    const hal::DeviceOptions& options, const HostAllocator& allocator) {
  return hal::CreateSerialDevice(options, allocator);
}

// Every field of the options whose default refers to much code is set
// explicitly, because otherwise this code would be linked.
vm::SessionOptions FirstOptions() {
  return vm::SessionOptions{.interpreter = &vm::PointwiseInterpreter(),
                            .library = nullptr};
}

std::vector<hal::DeviceDescription> ListDevices() {
  return {{.name = "cpu", .text = "the host, one thread"}};
}

}  // namespace ember::api

#include "vm/runtime/devices/memory.h"

#include "base/concat.h"

namespace ember::vm {

StatusOr<std::unique_ptr<DeviceMemory>> DeviceMemory::Make(
    hal::Device& device, int64_t bytes, std::function<void()> when_freed) {
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<hal::Buffer> mirror,
                         device.Allocate(bytes, hal::MemoryKind::kHostVisible));
  if (mirror->host_data() == nullptr) {
    return UnimplementedError(
        Concat({"session: expected a device with host-visible memory, found '",
                device.driver(), "'"}));
  }
  std::unique_ptr<hal::Buffer> local;
  if (!device.limits().shares_memory) {
    EMBER_ASSIGN_OR_RETURN(
        local, device.Allocate(bytes, hal::MemoryKind::kDeviceLocal));
  }
  return std::unique_ptr<DeviceMemory>(new DeviceMemory(
      std::move(mirror), std::move(local), std::move(when_freed)));
}

}  // namespace ember::vm

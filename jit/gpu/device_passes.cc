#include "jit/gpu/device_passes.h"

#include "base/concat.h"

namespace ember::jit::gpu {

Status MakeDeviceNest(const DeviceTraits& device, loops::LoopNest& nest) {
  for (const DevicePass& pass : kDevicePasses) {
    const Status status = pass.run(device, nest);
    if (!status.ok()) return status.WithContext(Concat({"loops @", nest.name}));
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu

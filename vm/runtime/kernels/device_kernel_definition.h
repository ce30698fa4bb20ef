// The arguments from which the launcher of kernels on devices (device_kernel.h)
// makes a kernel. They have a file of their own for code that passes them on
// without linking the launcher.
//
//   StatusOr<std::unique_ptr<Kernel>> kernel =
//       launcher({.image = image, .device = device});
//
// A plain value.
#ifndef EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_DEFINITION_H_
#define EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_DEFINITION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

struct DeviceKernelDefinition {
  KernelImage image;  // verified image of a device's format
  std::shared_ptr<hal::Device> device;
  // Bytes of the constant inputs, by input; empty for other inputs. Only the
  // prologue uses them, which runs in Create.
  std::vector<std::span<const uint8_t>> constants;
  // Parameters for images whose prologue depends on parameters; missing ones
  // are 0.
  std::vector<int64_t> prologue_parameters;
  // Contents of the packed buffers, in order, as the prologue would write them.
  // Empty: the prologue runs. Used in Create.
  std::vector<std::span<const uint8_t>> packed;
  std::string description;  // result of Kernel::Describe
};

// The type of LaunchOnDevice in device_kernel.h.
using DeviceLauncher =
    StatusOr<std::unique_ptr<Kernel>> (*)(DeviceKernelDefinition definition);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_DEFINITION_H_

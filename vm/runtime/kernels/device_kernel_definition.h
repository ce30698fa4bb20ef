// The arguments from which the launcher of kernels on devices (device_kernel.h)
// makes a kernel. They are in a file of their own, so that code can pass them
// on without linking the launcher.
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
  KernelImage image;  // verified image whose code has a format of devices
  std::shared_ptr<hal::Device> device;
  // For each input, its bytes if it is constant; empty for other inputs. Only
  // the prologue, which runs in Create, uses them.
  std::vector<std::span<const uint8_t>> constants;
  // Values of the parameters for an image whose prologue depends on parameters.
  // Missing values are 0.
  std::vector<int64_t> prologue_parameters;
  // Contents of the packed buffers, in order, as the prologue would write them.
  // If the list is empty, the prologue runs. The contents are used only during
  // Create.
  std::vector<std::span<const uint8_t>> packed;
  std::string description;  // result of Kernel::Describe
};

// The type of the function LaunchOnDevice in device_kernel.h.
using DeviceLauncher =
    StatusOr<std::unique_ptr<Kernel>> (*)(DeviceKernelDefinition definition);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_DEVICE_KERNEL_DEFINITION_H_

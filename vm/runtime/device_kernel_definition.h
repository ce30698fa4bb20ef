// What the launcher of kernels on devices (device_kernel.h) makes a kernel
// from; by itself, for those who hand it on without having the launcher linked.
//
//   StatusOr<std::unique_ptr<Kernel>> kernel =
//       launcher({.image = image, .device = device});
//
// A plain value.
#ifndef EMBER_VM_RUNTIME_DEVICE_KERNEL_DEFINITION_H_
#define EMBER_VM_RUNTIME_DEVICE_KERNEL_DEFINITION_H_

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
  KernelImage image;  // verified, of a device's format
  std::shared_ptr<hal::Device> device;
  // Of the constant inputs, by input; empty for others. Used by the prologue
  // only, which runs in Create.
  std::vector<std::span<const uint8_t>> constants;
  // For images whose prologue depends on them; else zeros do.
  std::vector<int64_t> prologue_parameters;
  // Of the packed buffers, in order, what the prologue would write; none at
  // all: the prologue runs. Used in Create.
  std::vector<std::span<const uint8_t>> packed;
  std::string description;  // Kernel::Describe
};

// LaunchOnDevice of device_kernel.h.
using DeviceLauncher =
    StatusOr<std::unique_ptr<Kernel>> (*)(DeviceKernelDefinition definition);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICE_KERNEL_DEFINITION_H_

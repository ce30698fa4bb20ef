// The code that a back end made for a device, as an image has it.
//
//   vm::KernelCode code = KernelCodeOf(std::move(device_code));
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_DEVICE_CODE_H_
#define EMBER_JIT_GPU_DEVICE_CODE_H_

#include <string>

#include "jit/gpu/kernel_abi.h"
#include "vm/format/kernel_image.h"

namespace ember::jit::gpu {

// Of a format of vm/format/kernel_image.h (a check).
vm::KernelCode KernelCodeOf(DeviceCode code);

// A line for each phase, behind `comment`: what it takes, for people.
std::string FiguresOf(const DeviceCode& code, const std::string& comment);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_CODE_H_

// Converts the code that a back end made for a device to the form that a kernel
// image holds.
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

// Returns the code in the form that a kernel image holds. The code's format
// must be one of vm/format/kernel_image.h (a check).
vm::KernelCode KernelCodeOf(DeviceCode code);

// Returns a line for each phase, prefixed with `comment`, that says for people
// what resources the phase takes.
std::string FiguresOf(const DeviceCode& code, const std::string& comment);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_CODE_H_

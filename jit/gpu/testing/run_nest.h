// Runs nests and kernels on a device in tests.
//
//   Bytes buffers = SmallContents(nest, parameters);
//   Status status = RunNest(device, nest, code, parameters, buffers);
#ifndef EMBER_JIT_GPU_TESTING_RUN_NEST_H_
#define EMBER_JIT_GPU_TESTING_RUN_NEST_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::gpu {

// The contents of each input and output, in order.
using Bytes = std::vector<std::vector<uint8_t>>;

loops::LoopNest ParseOrDie(const std::string& text);

// Returns a kernel image with the code of a nest. The image names no dispatch,
// because tests make nests without one.
vm::KernelImage ImageOfNest(const loops::LoopNest& nest, DeviceCode code);

// Records and runs the nest's code, prologue and phases. Then `buffers` has the
// contents of the device's memory. Checks that bytes around each buffer did not
// change.
Status RunNest(const std::shared_ptr<hal::Device>& device,
               const loops::LoopNest& nest, DeviceCode code,
               const std::vector<int64_t>& parameters, Bytes& buffers);

// Records and runs a call of a device's kernel on copies of the buffers, which
// are given as pointers and sizes, and copies them back. Equal pointers share
// one copy.
Status RunKernel(hal::Device& device, const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes);

// Returns contents for inputs and outputs: small integers (for floats also
// halves), whose sums are exact.
Bytes SmallContents(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_TESTING_RUN_NEST_H_

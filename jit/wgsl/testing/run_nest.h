// Runs nests as WGSL in tests, on the adapter that Dawn for Node finds
// (webgpu_device.h).
//
//   if (TestDevice() == nullptr) GTEST_SKIP() << WhyNoDevice();
//   Status status = RunOnDevice(nest, parameters, buffers);
#ifndef EMBER_JIT_WGSL_TESTING_RUN_NEST_H_
#define EMBER_JIT_WGSL_TESTING_RUN_NEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::wgsl {

// Returns the device of this process; null if there is none. A package that is
// there but has no adapter is a failure.
std::shared_ptr<hal::Device> TestDevice();
// Returns why there is none.
std::string WhyNoDevice();

// True if the device keeps subnormal numbers of f32.
bool KeepsSubnormals();

// Emits and runs the nest, prologue and phases. Then `buffers` has the contents
// of the device's memory. Checks that bytes around each buffer did not change.
// kUnimplemented: the nest is declined. kInternal: WebGPU refuses the module.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, gpu::Bytes& buffers);

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_TESTING_RUN_NEST_H_

// Runs nests on the machine's first OpenCL device in tests.
//
//   if (TestDevice() == nullptr) GTEST_SKIP() << WhyNoDevice();
//   Bytes buffers = ...;
//   Status status = RunOnDevice(nest, parameters, buffers);
#ifndef EMBER_JIT_OPENCL_TESTING_RUN_NEST_H_
#define EMBER_JIT_OPENCL_TESTING_RUN_NEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::opencl {

// Returns the first OpenCL device of the machine; null if there is none.
std::shared_ptr<hal::Device> TestDevice();
// Returns the reason why there is no OpenCL device; empty if there is one.
std::string WhyNoDevice();

// True if the device keeps subnormal numbers of f32 and f64 instead of
// replacing them by 0.
bool KeepsSubnormals();

// Emits the nest, and runs its prologue and its phases. On return, `buffers`
// has the contents of the device's memory. Also checks that bytes around each
// buffer did not change.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, gpu::Bytes& buffers);

}  // namespace ember::jit::opencl

#endif  // EMBER_JIT_OPENCL_TESTING_RUN_NEST_H_

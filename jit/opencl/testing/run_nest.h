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
// Returns "", or why there is none.
std::string WhyNoDevice();

// True if subnormal numbers of 32 and 64 bits keep their value on the device.
bool KeepsSubnormals();

// Emits, records and runs the nest, prologue and phases. Then `buffers` has the
// contents of the device's memory. Checks that bytes around each buffer did not
// change.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, gpu::Bytes& buffers);

}  // namespace ember::jit::opencl

#endif  // EMBER_JIT_OPENCL_TESTING_RUN_NEST_H_

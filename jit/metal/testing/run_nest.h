// Runs nests as MSL in tests: on the Metal driver above the fake functions,
// which compile programs as C++ and run their threadgroups thread by thread
// (hal/metal/testing/fake_metal.h).
//
//   if (!MissingCompiler().empty()) GTEST_SKIP() << MissingCompiler();
//   Status status = RunOnFake(nest, parameters, buffers);
//
// The environment variable EMBER_TEST_CXX names another compiler than c++, with
// options.
#ifndef EMBER_JIT_METAL_TESTING_RUN_NEST_H_
#define EMBER_JIT_METAL_TESTING_RUN_NEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::metal {

// Returns an empty string, or a message that there is no compiler.
std::string MissingCompiler();

// Returns the device above the fake functions. There must be a compiler.
std::shared_ptr<hal::Device> TestDevice();

// Emits, records and runs the nest, prologue and phases. Then `buffers` has the
// contents of the device's memory. Checks that bytes around each buffer did not
// change. InvalidArgument with the compiler's message if it refuses the
// program.
Status RunOnFake(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, gpu::Bytes& buffers);

}  // namespace ember::jit::metal

#endif  // EMBER_JIT_METAL_TESTING_RUN_NEST_H_

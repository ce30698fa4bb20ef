// Runs nests as MSL in tests: a C++ compiler of this machine compiles the
// program with the header shim/metal_stdlib, and the emulated grid runs its
// threadgroups (hal/cuda/emulated).
//
//   if (!MissingCompiler().empty()) GTEST_SKIP() << MissingCompiler();
//   Status status = RunOnGrid(nest, parameters, buffers);
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

// The target for which programs are emitted that run on this machine.
inline constexpr char kTestTarget[] =
    "metal2.4+subgroup32+shared32768+invocations1024";

// Returns an empty string if there is a C++ compiler, otherwise a message that
// there is none.
std::string MissingCompiler();

// Emits and compiles the nest, and runs its prologue and its phases. On return,
// `buffers` has the contents of the device's memory. Also checks that bytes
// around each buffer did not change. Errors: kInternal with the compiler's
// message if it refuses the program.
Status RunOnGrid(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, gpu::Bytes& buffers);

}  // namespace ember::jit::metal

#endif  // EMBER_JIT_METAL_TESTING_RUN_NEST_H_

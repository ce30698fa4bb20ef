// Runs nests on a Vulkan device in tests, and compares their results with the
// evaluator's.
//
//   if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
//   Bytes buffers = ...;
//   Status status = RunOnDevice(nest, parameters, buffers);
#ifndef EMBER_JIT_SPIRV_TESTING_RUN_NEST_H_
#define EMBER_JIT_SPIRV_TESTING_RUN_NEST_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/emitter.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::spirv {

inline constexpr char kNoDevice[] =
    "no Vulkan device: install mesa-vulkan-drivers";

// Returns the first Vulkan device of the machine; null if there is none.
std::shared_ptr<hal::Device> TestDevice();
// Returns the target of the test device, without the feature that
// EMBER_TEST_WITHOUT names. The target is cut off before the limit of
// iterations (and so lacks texels, too), because with open extents kernels
// would be refused that make few iterations in tests.
std::string TestTarget();
// Returns the target's text with the feature removed.
std::string Without(std::string target, std::string_view feature);

// True if the test device keeps subnormal numbers of f32 and f64, which a test
// finds out by running a kernel: Vulkan lets devices choose unless the target
// has denorm32.
bool KeepsSubnormals();

// Returns why this test cannot run modules with cooperative matrices; empty if
// it can. Either the device lists no matrix products, or neither the linked
// SPIRV-Tools nor the tool that EMBER_SPIRV_VAL names can validate such
// modules.
std::string WhyNoMatrices();

// Validates the module. If the linked SPIRV-Tools does not know one of its
// instructions, runs the program that EMBER_SPIRV_VAL names, a newer spirv-val.
Status Validate(std::span<const uint32_t> words);

// The target of an imaginary device with few features, for tests that only emit
// code.
inline constexpr char kSmallTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations64";

// Returns the first phase of the nest's module, which must pass validation.
// Works without a device.
gpu::PhaseCode FirstPhase(const std::string& text,
                          const char* target = kSmallTarget);

using gpu::Bytes;
using gpu::ParseOrDie;
using gpu::SmallContents;

// Returns the nest's module for `target`, or for the test device if that is "".
// Fails if the module does not pass validation.
StatusOr<ModuleCode> Emit(const loops::LoopNest& nest,
                          const std::string& target = "");

// Compiles the nest and runs it on the test device: prologue and phases.
// Afterwards `buffers` has the contents of the device's memory. Checks that
// bytes around each buffer did not change. target: "" means the device's
// target.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, Bytes& buffers,
                   const std::string& target = "");

// Records and runs a call of a kernel on copies of the buffers in device
// memory, and copies the results back. The buffers are given as pointers and
// sizes; equal pointers share one copy.
Status RunKernel(const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes);

// Runs the nest on the test device and expects the evaluator's outputs, within
// the relative `tolerance`, or its error. target: "" means the device's target.
void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {},
                       double tolerance = 0, const std::string& target = "");

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TESTING_RUN_NEST_H_

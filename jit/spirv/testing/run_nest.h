// Runs nests on a Vulkan device in tests and compares with the evaluator of
// nests.
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
// Returns the target of the test's device, without the feature that
// EMBER_TEST_WITHOUT names, if any. The target also lacks the limit of
// iterations, since open extents might have many and tests have few.
std::string TestTarget();
// Returns the target's text without the feature.
std::string Without(std::string target, std::string_view feature);

// True if subnormal numbers of 32 and 64 bits keep their value on the device.
// Vulkan leaves that to the device if the target does not say so (denorm32).
bool KeepsSubnormals();

// Returns why the device's modules cannot have cooperative matrices in this
// test; empty if they can. Either the device lists no products, or no tool can
// validate them: neither the linked SPIRV-Tools nor the tool that
// EMBER_SPIRV_VAL names.
std::string WhyNoMatrices();

// Calls ValidateModule. If the library does not know something in the module,
// runs the spirv-val that EMBER_SPIRV_VAL names.
Status Validate(std::span<const uint32_t> words);

// The target of a device with few features, for tests of the emitter that need
// no real one.
inline constexpr char kSmallTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations64";

// Returns the first phase of the nest's module, which must pass spirv-val.
// Needs no device.
gpu::PhaseCode FirstPhase(const std::string& text,
                          const char* target = kSmallTarget);

using gpu::Bytes;
using gpu::ParseOrDie;
using gpu::SmallContents;

// Returns the module for the test's device, or for `target`. The module must
// pass spirv-val.
StatusOr<ModuleCode> Emit(const loops::LoopNest& nest,
                          const std::string& target = "");

// Emits, validates, records and runs the nest, prologue and phases. Then
// `buffers` has the contents of the device's memory. Checks that bytes around
// each buffer did not change. target: "" means the device's target.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, Bytes& buffers,
                   const std::string& target = "");

// Records and runs a call of a device's kernel on copies of the buffers, which
// are given as pointers and sizes, and copies them back. Equal pointers share
// one copy.
Status RunKernel(const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes);

// Runs the nest and expects the outputs of the evaluator, within the relative
// `tolerance`, and its errors. target: "" means the device's target.
void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {},
                       double tolerance = 0, const std::string& target = "");

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TESTING_RUN_NEST_H_

// Nests run on a Vulkan device in tests, beside the evaluator of nests.
//
//   if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
//   Bytes buffers = ...;
//   Status status = RunOnDevice(nest, parameters, buffers);
#ifndef EMBER_JIT_SPIRV_TESTING_H_
#define EMBER_JIT_SPIRV_TESTING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/testing.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/emitter.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::spirv {

inline constexpr char kNoDevice[] =
    "no Vulkan device: install mesa-vulkan-drivers";

// The first Vulkan device of the machine; null if there is none.
std::shared_ptr<hal::Device> TestDevice();
// Its target, but for how often loops may turn: tests are of few iterations,
// while extents that are open might be of many; and for the feature that
// EMBER_TEST_WITHOUT names, if any.
std::string TestTarget();
// The target without a feature.
std::string Without(std::string target, std::string_view feature);

// Whether subnormal numbers of 32 and 64 bits keep their value there, which
// Vulkan leaves to the device where the target does not say so (denorm32).
bool KeepsSubnormals();

// Why the device's modules cannot have cooperative matrices here: it lists no
// products, or nothing can validate them: neither the SPIRV-Tools that are
// linked nor what EMBER_SPIRV_VAL names. Empty: they can.
std::string WhyNoMatrices();

// ValidateModule; by the spirv-val that EMBER_SPIRV_VAL names where the library
// does not know what the module has.
Status Validate(std::span<const uint32_t> words);

// A device that has little, for what the emitter decides by itself.
inline constexpr char kSmallTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations64";

// The first phase of the nest's module, which passes spirv-val. Needs no
// device.
gpu::PhaseCode FirstPhase(const std::string& text,
                          const char* target = kSmallTarget);

using gpu::Bytes;
using gpu::ParseOrDie;
using gpu::SmallContents;

// The module, which passes spirv-val; for the test's device, or `target`.
StatusOr<ModuleCode> Emit(const loops::LoopNest& nest,
                          const std::string& target = "");

// Emits, validates, records and runs the nest, prologue and phases; buffers
// then has what is in the device's memory. Bytes around each are seen to stay
// as they were. target: "" for the device's.
Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, Bytes& buffers,
                   const std::string& target = "");

// Records and runs a call of a device's kernel on copies of the buffers, which
// are given as pointers and sizes, and copies them back. Equal pointers are one
// memory.
Status RunKernel(const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes);

// Outputs must be those of the evaluator, but for `tolerance` relative to them,
// and errors its errors. target: "" for the device's.
void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {},
                       double tolerance = 0, const std::string& target = "");

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TESTING_H_

// What emitters of code for a GPU say of it. How its entry points are called is
// fixed in vm/format/device_abi.h.
//
//   gpu::DeviceCode code = …;
//   code.phases[0].bindings;
//
// Plain values.
#ifndef EMBER_JIT_GPU_KERNEL_ABI_H_
#define EMBER_JIT_GPU_KERNEL_ABI_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/format/device_abi.h"

namespace ember::jit::gpu {

// What the code relies on, and how it says that a check failed.
inline constexpr int64_t kMostExtent = vm::kMostDeviceExtent;
inline constexpr int64_t kMostElements = vm::kMostDeviceElements;
using vm::CheckRecord;

// One entry point.
struct PhaseCode {
  std::string entry_point;
  // Buffers of the nest in device memory.
  struct Binding {
    uint32_t buffer = 0;
    // A kTask buffer that has no room in the workgroup's memory: each workgroup
    // of a command has one of its own in the range, side by side.
    bool is_sliced = false;
    bool is_written = false;
  };
  std::vector<Binding> bindings;
  bool has_checks = false;
  bool has_slices = false;
  int64_t tasks_per_workgroup = 1;
  // Not 0: whoever records a call refuses it if an invocation's loops might
  // turn more often than this (jit/backend/iteration_formulas.h), as the driver
  // would end them then.
  int64_t iterations = 0;
  // Bytes of a workgroup's memory that a launch must bring; else the code
  // declares all of it.
  int64_t dynamic_shared_bytes = 0;
  // Tensor maps that it takes, in the order of its arguments.
  std::vector<vm::BoxMap> boxes;
  // Not 0: a launch has no more workgroups, and each goes on to further tasks
  // by itself.
  int64_t most_workgroups = 0;

  // For people: what it takes of a workgroup's memory and of each invocation,
  // and how often instructions stand in the code, each as often as it is
  // written out.
  int64_t invocations = 1;  // of a workgroup, along x
  int64_t shared_bytes = 0;
  int64_t register_bytes = 0;
  int64_t barriers = 0;
  int64_t loads = 0;          // from memory, the workgroup's included
  int64_t multiply_adds = 0;  // updates by a product, or by four at once
  // "phase0: 128 invocations, 8192 B shared, 256 B of registers, …"
  std::string Figures() const;
};

// What is said where loops would turn too often.
std::string TooManyIterations(int64_t found, int64_t limit);

// Code for a nest: an entry point per phase.
struct DeviceCode {
  std::string format;  // hal/executable.h
  std::vector<uint8_t> code;
  std::vector<PhaseCode> prologue;
  std::vector<PhaseCode> phases;
  // What must live as long as executables of the code, if anything.
  std::shared_ptr<const void> resources;
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_KERNEL_ABI_H_

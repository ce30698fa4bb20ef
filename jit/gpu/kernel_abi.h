// A description of device code by its emitter: entry points, bindings,
// resources. How entry points are called is fixed in vm/format/device_abi.h.
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

// Limits on extents and numbers of elements that generated code relies on.
// CheckRecord is the layout in which code reports a failed check.
inline constexpr int64_t kMaxExtent = vm::kMaxDeviceExtent;
inline constexpr int64_t kMaxElements = vm::kMaxDeviceElements;
using vm::CheckRecord;

// The code of one phase, which is one entry point.
struct PhaseCode {
  std::string entry_point;
  // A buffer of the nest in the device's memory that is bound to the entry
  // point.
  struct Binding {
    uint32_t buffer = 0;
    // True for a kTask buffer that does not fit in the workgroup's memory. The
    // bound range then contains one such buffer for each workgroup of a
    // command, one after the other.
    bool is_sliced = false;
    bool is_written = false;
  };
  std::vector<Binding> bindings;
  bool has_checks = false;
  bool has_slices = false;
  int64_t tasks_per_workgroup = 1;
  // If not 0, the largest number of iterations that an invocation's loops may
  // take. The recorder of a call refuses the call if its loops might take more
  // iterations (jit/backend/iteration_formulas.h), because the driver would end
  // such a run.
  int64_t iterations = 0;
  // Bytes of a workgroup's memory that a launch must provide. If 0, the code
  // declares all the memory that it uses.
  int64_t dynamic_shared_bytes = 0;
  // Tensor maps that the entry point takes, in the order of its arguments.
  std::vector<vm::BoxMap> boxes;
  // If not 0, the largest number of workgroups of a launch. Each workgroup then
  // takes further tasks by itself (a persistent kernel).
  int64_t most_workgroups = 0;

  // Figures for people: the memory of a workgroup, the registers of each
  // invocation, and counts of instructions in the code as it is written out.
  int64_t invocations = 1;  // number of invocations per workgroup, along x
  int64_t shared_bytes = 0;
  int64_t register_bytes = 0;
  int64_t barriers = 0;
  int64_t loads = 0;  // number of loads from memory, including the workgroup's
  // number of multiply-add operations: updates by a product, or by a dot
  // product of four bytes
  int64_t multiply_adds = 0;
  // Returns the figures as text: "phase0: 128 invocations, 8192 B shared, 256 B
  // of registers, …"
  std::string Figures() const;
};

// Returns the message for loops that would take too many iterations.
std::string TooManyIterations(int64_t found, int64_t limit);

// The code for a nest, with an entry point for each phase.
struct DeviceCode {
  std::string format;  // one of the formats of hal/executable.h
  std::vector<uint8_t> code;
  std::vector<PhaseCode> prologue;
  std::vector<PhaseCode> phases;
  // Resources that must live as long as executables of the code; may be null.
  std::shared_ptr<const void> resources;
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_KERNEL_ABI_H_

// A compiled kernel as a plain value: all that is needed to launch it, and
// nothing of the compiler that made it. The JIT makes images and launches them;
// its cache keeps their code, modules and overlay files carry them, and a
// program without a JIT launches what was made before.
//
//   StatusOr<KernelImage> image = ParseKernelImage(R"(
//     kernel "scale" for "x86_64-linux" {
//       tier 2
//       parameters 1
//       %0: i64 = parameter 0
//       input "x": f32[%0] align 4 overwritten
//       output "y": f32[%0] align 4
//       phase tasks %0
//       code machine-code align 16 entries 0 { "31c0c3" }
//     }
//   )");
//
// An image has buffers: those of the dispatch (inputs, then outputs) and its
// own temporaries and packed constants. It runs phases one after another, each
// so many tasks, which may run in any order and at once. How large buffers are
// and how many tasks there are say formulas over the call's parameters.
//
// Kernels of CPUs and of other devices are images alike. Of a device's the code
// is a module that its driver loads, and each phase says how it is launched:
//
//   code spirv align 4 entries {
//     device "phase0" workgroup 64 tasks 4 bindings 0 1
//     "03022307…"
//   }
//
// Ownership: a plain value; code is shared. Thread-safety: immutable after
// building. Invariants: VerifyKernelImage (kernel_image_verifier.h). Images may
// come from files, so every number in one is untrusted until it was verified;
// what the code itself does cannot be verified, which is why native sections
// are loaded with permission only (docs/prejit.md).
#ifndef EMBER_VM_FORMAT_KERNEL_IMAGE_H_
#define EMBER_VM_FORMAT_KERNEL_IMAGE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "tensor/dispatch.h"
#include "vm/format/device_abi.h"

namespace ember::vm {

// Who can run code as it is.
enum class KernelRunner : uint8_t {
  kHost,      // a CPU, by offsets of functions (KernelCode::entries)
  kDevice,    // a device's driver, by names (KernelCode::device)
  kCompiler,  // nobody: a compiler has to make code of it first, by names
};

// What the bytes of the code are. The numbers are stored: append only. But for
// machine code the text is the format's name for drivers (hal/executable.h).
// Rows: (name, text, runner, doc).
// clang-format off
#define EMBER_FOR_EACH_KERNEL_FORMAT(row) \
  row(MachineCode, "machine-code", kHost, \
      "Instructions of a CPU and the constants they read, in one piece that may be put at any " \
      "address of its alignment: all relocations are resolved. Each entry is a PhaseFunction " \
      "(kernel_abi.h).") \
  row(Spirv, "spirv", kDevice, "A module of SPIR-V; each phase is an entry point (device_abi.h).") \
  row(Ptx, "ptx", kDevice, "A module of PTX as text; each phase is an entry (device_abi.h).") \
  row(EmulatedGrid, "emulated-grid", kDevice, \
      "The same as code of the process that made it, for the emulated grid: it means nothing in a " \
      "file, and readers refuse it.") \
  row(CSource, "c-source", kCompiler, \
      "Functions of C11 as text, which a compiler has to make code of: each phase names one, which " \
      "is a PhaseFunction (kernel_abi.h). Nothing runs them as they are.")
// clang-format on

enum class KernelFormat : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};

// Where a buffer's memory comes from. The numbers are stored: append only.
// Rows: (name, text, doc).
// clang-format off
#define EMBER_FOR_EACH_KERNEL_SCOPE(row) \
  row(Input, "input", "Of the dispatch, in order; read only.") \
  row(Output, "output", "Of the dispatch, in order.") \
  row(Packed, "packed", "Written by the prologue, once for many calls; then read only.") \
  row(Call, "call", "Of one call, seen by all its tasks.") \
  row(Task, "task", "Of one task; unspecified contents at its start.") \
  row(Register, "register", "Has no memory; only its name and number are used.")
// clang-format on

enum class KernelScope : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_KERNEL_SCOPE(EMBER_ROW)
#undef EMBER_ROW
};

struct KernelText {
  std::string_view text, doc;
};
inline constexpr KernelText kKernelFormats[] = {
#define EMBER_ROW(name, text, runner, doc) {text, doc},
    EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};
// kCompiler for a number that is no format, as files may hold until they are
// verified: nobody runs it.
constexpr KernelRunner RunnerOf(KernelFormat format) {
  switch (format) {
#define EMBER_ROW(name, text, runner, doc) \
  case KernelFormat::k##name:              \
    return KernelRunner::runner;
    EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
  }
  return KernelRunner::kCompiler;
}
// Whether its entry points may take tensor maps (device_abi.h).
constexpr bool HasTensorMaps(KernelFormat format) {
  return format == KernelFormat::kPtx || format == KernelFormat::kEmulatedGrid;
}
inline constexpr KernelText kKernelScopes[] = {
#define EMBER_ROW(name, text, doc) {text, doc},
    EMBER_FOR_EACH_KERNEL_SCOPE(EMBER_ROW)
#undef EMBER_ROW
};

struct KernelBuffer {
  std::string name;  // for messages, without '%'
  DType type = DType::kF32;
  KernelScope scope = KernelScope::kInput;
  // Elements, row-major and contiguous: numbers of i64 formulas.
  std::vector<uint32_t> extents;
  // Inputs and outputs: bytes of which the address must be a multiple. Others
  // are aligned to 64 bytes, and have 1 here.
  uint32_t alignment = 1;
  // Inputs: the code is right where outputs that MayAlias of the dispatch
  // (vm/interpreter/plan.h) allows are the same memory. False: no output may
  // be.
  bool may_be_overwritten = false;

  bool operator==(const KernelBuffer&) const = default;
};

// How the entry point of a phase is launched on a device (device_abi.h).
struct DevicePhase {
  // A buffer of the kernel in the device's memory.
  struct Binding {
    uint32_t buffer = 0;
    // A task's buffer that has no room in the workgroup's memory: each
    // workgroup of a command has one of its own in the range, side by side.
    bool is_sliced = false;
    bool operator==(const Binding&) const = default;
  };
  std::string entry_point;  // in the code
  std::vector<Binding> bindings;
  bool has_checks = false;   // the record of a failed check is bound
  uint32_t invocations = 1;  // of a workgroup, along x
  uint32_t tasks_per_workgroup = 1;
  // Of a workgroup's memory, what a launch must bring beside what the code
  // declares.
  uint32_t shared_bytes = 0;
  // Not 0: a call whose invocations might turn loops more often than this
  // (KernelImage::iterations) must not be launched, as the driver would end
  // them then.
  int64_t most_iterations = 0;
  // Arguments behind the others: tensor maps (device_abi.h).
  std::vector<BoxMap> boxes;
  // Not 0: a launch has no more workgroups, as each does several shares of the
  // tasks; and no slices.
  uint32_t most_workgroups = 0;

  bool operator==(const DevicePhase&) const = default;
};

// Code without what surrounds it: equal kernels of two dispatches share it.
struct KernelCode {
  KernelFormat format = KernelFormat::kMachineCode;
  uint32_t alignment = 1;  // of its first byte in memory, a power of two
  // Of machine code: the offset of each phase's function. Otherwise empty.
  std::vector<uint32_t> entries;
  // Of other code: one for each phase. Otherwise empty.
  std::vector<DevicePhase> device;
  std::shared_ptr<const void> owner;  // keeps bytes alive
  std::span<const uint8_t> bytes;

  KernelRunner runner() const { return RunnerOf(format); }
  bool is_machine_code() const { return runner() == KernelRunner::kHost; }
};

struct KernelImage {
  std::string dispatch;  // its name, without '@', for messages
  // What the code needs of a machine (base/target.h).
  std::string target;
  int tier = 1;             // 1 or 2
  double error_growth = 1;  // vm::Kernel::error_growth

  // Parameters that the code takes: the dispatch's, or none if it is
  // specialised.
  uint32_t parameter_count = 0;
  // A guard: the code is right for these parameters of the dispatch only.
  // Empty: for all.
  std::vector<int64_t> shape;

  // What extents and numbers of tasks are computed by: instruction i gives
  // value i, of earlier ones. Constants, parameters and arithmetic, which wraps
  // (tensor/semantics.h).
  std::vector<tensor::Instruction> formulas;
  // Inputs, outputs, then the others.
  std::vector<KernelBuffer> buffers;
  // Number of tasks of each phase, as an i64 formula; below 1: none. The first
  // prologue_count run once, when the kernel is loaded, on constant inputs, and
  // write the packed buffers; the others run in each call.
  std::vector<uint32_t> phases;
  uint32_t prologue_count = 0;
  // Of each phase, an i64 formula of how often the loops of an invocation turn
  // in a task, at most; none at all where no phase has most_iterations.
  std::vector<uint32_t> iterations;

  KernelCode code;
};

// Code and owner by contents.
bool operator==(const KernelCode& a, const KernelCode& b);
bool operator==(const KernelImage& a, const KernelImage& b);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_H_

// A compiled kernel as a plain value. It contains everything that is needed to
// launch the kernel, and does not depend on the compiler. The JIT makes images
// and launches them, its cache stores their code, and modules and overlay files
// contain images. A program without a JIT launches images that were made ahead
// of time.
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
// An image has buffers: those of the dispatch (inputs, then outputs), and its
// own temporaries and packed constants. It runs phases one after another. Each
// phase has a number of tasks, which may run in any order and concurrently.
// Formulas over the call's parameters give the sizes of buffers and the numbers
// of tasks.
//
// CPUs and other devices use the same images. For a device the code is a module
// that its driver loads, and each phase says how it is launched:
//
//   code spirv align 4 entries {
//     device "phase0" workgroup 64 tasks 4 bindings 0 1
//     "03022307…"
//   }
//
// Ownership: a plain value; code is shared. Thread-safety: immutable after
// building. Invariants: VerifyKernelImage (kernel_image_verifier.h). Images may
// come from files, so no number in one is trusted before it is verified. What
// the code itself does cannot be verified; therefore native sections are loaded
// only with permission (docs/prejit.md).
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

// Says what can run code of a format.
enum class CodeConsumer : uint8_t {
  kHost,      // a CPU runs it; functions are given by offsets
              // (KernelCode::entries)
  kDevice,    // a device's driver runs it; functions are given by names
              // (KernelCode::device)
  kCompiler,  // neither a CPU nor a driver can run it: a C compiler must
              // compile it first; functions are given by names
};

// The format of the code's bytes. The enum's numbers are stored in files, so
// new formats are only appended. For formats other than machine code the column
// `text` is the name that drivers use (hal/executable.h). Columns: (name, text,
// consumer, doc).
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
      "is a PhaseFunction (kernel_abi.h). Nothing runs them as they are.") \
  row(OpenClC, "opencl-c", kDevice, \
      "A program of OpenCL C as text; each phase is a kernel function (device_abi.h).") \
  row(Msl, "msl", kDevice, \
      "A program of the Metal Shading Language as text; each phase is a kernel function " \
      "(device_abi.h).")
// clang-format on

enum class KernelFormat : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};

// Says who provides a buffer's memory, and how long it lives (the scope). The
// enum's numbers are stored in files, so new scopes are only appended. Columns:
// (name, text, doc).
// clang-format off
#define EMBER_FOR_EACH_KERNEL_SCOPE(row) \
  row(Input, "input", "Belongs to the dispatch, in order; read only.") \
  row(Output, "output", "Belongs to the dispatch, in order.") \
  row(Packed, "packed", "Written by the prologue, once for many calls; then read only.") \
  row(Call, "call", "Belongs to one call, visible to all its tasks.") \
  row(Task, "task", "Belongs to one task; its contents are unspecified at the start.") \
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
#define EMBER_ROW(name, text, consumer, doc) {text, doc},
    EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};
// Returns the consumer that can run code of the format. An unverified file may
// contain a number that is no format; for such a number the result is
// kCompiler, which cannot run code.
constexpr CodeConsumer ConsumerOf(KernelFormat format) {
  switch (format) {
#define EMBER_ROW(name, text, consumer, doc) \
  case KernelFormat::k##name:                \
    return CodeConsumer::consumer;
    EMBER_FOR_EACH_KERNEL_FORMAT(EMBER_ROW)
#undef EMBER_ROW
  }
  return CodeConsumer::kCompiler;
}
// True if entry points of this format may have tensor maps as arguments
// (device_abi.h).
constexpr bool HasTensorMaps(KernelFormat format) {
  return format == KernelFormat::kPtx || format == KernelFormat::kEmulatedGrid;
}
inline constexpr KernelText kKernelScopes[] = {
#define EMBER_ROW(name, text, doc) {text, doc},
    EMBER_FOR_EACH_KERNEL_SCOPE(EMBER_ROW)
#undef EMBER_ROW
};

struct KernelBuffer {
  std::string name;  // name of the buffer for messages, without '%'
  DType type = DType::kF32;
  KernelScope scope = KernelScope::kInput;
  // For each dim of the buffer (which is row-major and contiguous), the number
  // of the i64 formula that gives the extent.
  std::vector<uint32_t> extents;
  // The address of an input or output must be a multiple of this number of
  // bytes. For other buffers, which are aligned to 64 bytes, the value is 1.
  uint32_t alignment = 1;
  // True for an input if an output may use the input's memory, provided that
  // MayAlias (vm/interpreter/plan.h) of the dispatch allows it. False if no
  // output may use the input's memory.
  bool may_be_overwritten = false;

  bool operator==(const KernelBuffer&) const = default;
};

// Describes how a phase's entry point is launched on a device (device_abi.h).
struct DevicePhase {
  // A buffer of the kernel that is bound to the entry point.
  struct Binding {
    uint32_t buffer = 0;
    // True for a task's buffer that does not fit in the workgroup's memory, and
    // so is in device memory. Each workgroup of a command has its own slice of
    // the bound range; the slices lie one behind another.
    bool is_sliced = false;
    bool operator==(const Binding&) const = default;
  };
  std::string entry_point;  // name of the phase's function in the code
  std::vector<Binding> bindings;
  bool has_checks = false;   // true if the phase checks indices, so that a
                             // CheckRecord is bound
  uint32_t invocations = 1;  // number of invocations of a workgroup along x
  uint32_t tasks_per_workgroup = 1;
  // Number of bytes of a workgroup's memory that a launch must provide in
  // addition to the memory that the code declares.
  uint32_t shared_bytes = 0;
  // Largest number of loop iterations that an invocation may execute; 0: no
  // limit. A call with more iterations (KernelImage::iterations) is not
  // launched, because the driver would abort it.
  int64_t most_iterations = 0;
  // The tensor maps that are passed behind the other arguments (device_abi.h).
  std::vector<BoxMap> boxes;
  // Largest number of workgroups of a launch; 0: no limit. If it is not 0, a
  // workgroup may run more than one group of tasks_per_workgroup tasks (a
  // persistent kernel), and no buffer is sliced.
  uint32_t most_workgroups = 0;

  bool operator==(const DevicePhase&) const = default;
};

// The code of an image, without the image's buffers and sizes. Images of
// several dispatches share one object if their code is equal.
struct KernelCode {
  KernelFormat format = KernelFormat::kMachineCode;
  // alignment in bytes of the code's first byte in memory, a power of two
  uint32_t alignment = 1;
  // For machine code: the offset of each phase's function in the code. Empty
  // for other formats.
  std::vector<uint32_t> entries;
  // For code of devices and C code: how each phase is launched. Empty for
  // machine code.
  std::vector<DevicePhase> device;
  std::shared_ptr<const void> owner;  // object that owns the memory of `bytes`
  std::span<const uint8_t> bytes;

  CodeConsumer consumer() const { return ConsumerOf(format); }
  bool is_machine_code() const { return consumer() == CodeConsumer::kHost; }
};

struct KernelImage {
  std::string dispatch;  // name of the dispatch, without '@', for messages
  // Target that the code needs: the kind of machine and its features
  // (base/target_text.h).
  std::string target;
  int tier = 1;  // tier of the kernel: 1 or 2
  // factor by which the error of the kernel's sums may exceed that of the
  // dispatch's own sums (vm::Kernel::error_growth)
  double error_growth = 1;

  // Number of parameters that the code takes: those of the dispatch, or 0 if
  // the code is specialised for all of them.
  uint32_t parameter_count = 0;
  // The values of the dispatch's parameters for which alone the code is
  // correct, so that a kernel is used only for them; tensor::kOpenParameter for
  // a parameter that may have any value. Empty: the code is correct for all
  // values.
  std::vector<int64_t> shape;

  // Formulas that compute extents and numbers of tasks. Instruction number i
  // computes value i from values with lower numbers. The instructions are
  // constants, parameters and arithmetic, which wraps (tensor/semantics.h).
  std::vector<tensor::Instruction> formulas;
  // The buffers of the kernel: inputs, then outputs, then all others.
  std::vector<KernelBuffer> buffers;
  // For each phase, the number of the i64 formula that gives its number of
  // tasks; a value below 1 means no tasks. The first prologue_count phases run
  // once on constant inputs, when the kernel is loaded, and write the packed
  // buffers. The other phases run in each call.
  std::vector<uint32_t> phases;
  uint32_t prologue_count = 0;
  // For each phase, the number of an i64 formula that gives an upper bound of
  // the loop iterations which one invocation executes in one task. Empty if no
  // phase has most_iterations.
  std::vector<uint32_t> iterations;

  KernelCode code;
};

// Returns the number of open parameters in KernelImage::shape.
int OpenParameters(std::span<const int64_t> shape);
// True if a kernel that is specialised for `shape` may run with these values of
// the parameters.
bool ShapeAccepts(std::span<const int64_t> shape,
                  std::span<const int64_t> parameters);

// Compares the contents of two codes or two images. The addresses of their
// bytes and owners are not compared.
bool operator==(const KernelCode& a, const KernelCode& b);
bool operator==(const KernelImage& a, const KernelImage& b);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_H_

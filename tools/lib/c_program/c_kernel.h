// The kernel of one call of a dispatch as functions of C, with everything that
// a program needs to call them without a launcher.
//
//   EMBER_ASSIGN_OR_RETURN(CKernel kernel,
//                          MakeCKernel(request, *compiler, packer.get()));
//   kernel.phases[0].function;   // "ember_relu_1f2e3d4c5b6a7988_phase0"
//
// The kernel is for one shape and one task after another. Constants that it
// reads in a layout of its own are packed when it is made. Depends on LLVM.
// Thread-safe.
//
// Errors are one line that names the dispatch, with a reason of
// jit/backend/decline_reasons.h if no kernel can be made.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_C_KERNEL_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_C_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {

struct CKernel {
  // A function, which is called once for all tasks of its phase.
  struct Phase {
    std::string function;  // name
    std::string text;      // definition
    int64_t tasks = 0;
    bool can_fail = false;  // true if an index may be out of range
  };
  struct Buffer {
    vm::KernelScope scope = vm::KernelScope::kInput;
    DType type = DType::kF32;
    int64_t bytes = 0;
    bool is_used = false;  // true if a phase loads the pointer
    // The offset of a temporary in the scratch of the call.
    int64_t scratch_offset = 0;
    // The contents of a packed constant.
    std::span<const uint8_t> packed;
  };
  std::vector<Phase> phases;
  // The inputs and outputs of the dispatch, in order, and the kernel's own
  // buffers.
  std::vector<Buffer> buffers;
  int64_t scratch_bytes = 0;
  // The bytes of the arrays of the phase that has most of them.
  int64_t array_bytes = 0;
  std::shared_ptr<const void> packed_owner;
};

// request: for target c11 and with values of all parameters. packer: a compiler
// for this machine, which packs constants.
StatusOr<CKernel> MakeCKernel(const vm::KernelRequest& request,
                              jit::ObjectCompiler& compiler,
                              jit::Compiler* packer);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_C_KERNEL_H_

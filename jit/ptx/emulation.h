// Compiles kernels for NVPTX to code of this process, for the emulated grid
// (hal/cuda/emulated/grid.h). The emulation takes the kernels' LLVM IR after
// the passes and replaces NVVM's intrinsics by calls of the grid. Before each
// access of memory the emulation inserts a call that reports the access.
//
//   EMBER_ASSIGN_OR_RETURN(EmulatedCode code, EmulateOnHost(module));
//   // {.format = "emulated-grid", .code = code.image}
//
// Not thread-safe: only one thread at a time may use an LLVM module.
#ifndef EMBER_JIT_PTX_EMULATION_H_
#define EMBER_JIT_PTX_EMULATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

struct EmulatedCode {
  std::vector<uint8_t> image;
  // Owns the memory of the compiled code. It must live as long as executables
  // that are made from `image`.
  std::shared_ptr<const void> resources;
};

// Compiles the module's kernels to machine code of this process. Changes the
// module. Returns kInternal if the module contains an instruction or intrinsic
// that the emulation does not know.
StatusOr<EmulatedCode> EmulateOnHost(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_EMULATION_H_

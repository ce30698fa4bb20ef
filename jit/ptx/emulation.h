// Kernels for NVPTX as code of this process, for the emulated grid
// (hal/cuda/emulated/grid.h): their LLVM IR, behind the passes, with calls of
// the grid where NVVM has intrinsics, and a call before each access of memory
// that says what is accessed.
//
//   EMBER_ASSIGN_OR_RETURN(EmulatedCode code, EmulateOnHost(module));
//   // {.format = "emulated-grid", .code = code.image}
//
// Not thread-safe: a module is one thread's.
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
  std::shared_ptr<const void> resources;  // must outlive executables
};

// Uses the module up. kInternal for what the emulation does not know.
StatusOr<EmulatedCode> EmulateOnHost(llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_EMULATION_H_

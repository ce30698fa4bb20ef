// Runs LLVM's part: optimisation of a module, and its machine code.
#ifndef EMBER_JIT_LLVM_PASSES_PIPELINE_H_
#define EMBER_JIT_LLVM_PASSES_PIPELINE_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/compile_options.h"
#include "jit/llvm/passes/host.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace ember::jit::llvm_ir {

// Runs LLVM's passes, given by their names in order, as its PassBuilder reads
// them, and our own `broadcast-indices` (broadcast_indices.h). LLVM verifies
// the module first. Returns kInternal if LLVM does not accept the module: our
// bug.
Status RunPasses(llvm::TargetMachine& machine, const char* pipeline,
                 llvm::Module& module);

// Runs LLVM's passes for the effort, and Ember's own passes. The functions get
// the attributes of the CPU. Errors are those of RunPasses.
Status Optimize(const Host& host, llvm::TargetMachine& machine, Effort effort,
                llvm::Module& module);

// Returns the module's machine code as an object file. Changes the module.
StatusOr<std::unique_ptr<llvm::MemoryBuffer>> EmitObject(
    llvm::TargetMachine& machine, llvm::Module& module);
StatusOr<std::string> EmitAssembly(llvm::TargetMachine& machine,
                                   const llvm::Module& module);

std::string ModuleText(const llvm::Module& module);
// Returns kInternal, with the symbol's name, if the object file needs an
// outside symbol: LLVM has called a library.
Status CheckNeedsNothing(const llvm::MemoryBuffer& object);
// Returns the bytes of machine code in an object file.
int64_t CodeBytes(const llvm::MemoryBuffer& object);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_PIPELINE_H_

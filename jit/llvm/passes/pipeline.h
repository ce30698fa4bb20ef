// Optimises a module with LLVM's and Ember's passes, and emits its machine
// code.
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

// Runs passes on the module. `pipeline`: their names in order, as LLVM's
// PassBuilder parses them; `broadcast-indices` is Ember's own
// (broadcast_indices.h). LLVM verifies the module first; returns kInternal if
// it finds the module invalid, which is a bug of Ember.
Status RunPasses(llvm::TargetMachine& machine, const char* pipeline,
                 llvm::Module& module);

// Runs LLVM's passes for the effort, and then Ember's own passes. Gives
// functions the attributes of the host's CPU. Errors are those of RunPasses.
Status Optimize(const Host& host, llvm::TargetMachine& machine, Effort effort,
                llvm::Module& module);

// Returns the module's machine code as an object file. The passes of code
// generation change the module.
StatusOr<std::unique_ptr<llvm::MemoryBuffer>> EmitObject(
    llvm::TargetMachine& machine, llvm::Module& module);
StatusOr<std::string> EmitAssembly(llvm::TargetMachine& machine,
                                   const llvm::Module& module);

std::string ModuleText(const llvm::Module& module);
// Returns kInternal, with the symbol's name, if the object file refers to a
// symbol outside of it (other than WebAssembly's globals of the runtime): LLVM
// has then inserted a call of a library, which kernels must not make.
Status CheckNeedsNothing(const llvm::MemoryBuffer& object);
// Returns the number of bytes of machine code in an object file; 0 if it cannot
// be read.
int64_t CodeBytes(const llvm::MemoryBuffer& object);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_PIPELINE_H_

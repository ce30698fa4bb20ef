// Creates a compiler for everything that LLVM is used for: CPUs, and devices
// whose code it makes.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewFullCompiler());
//   compiler->CompileToCode(nest, {.target = "sm_90a+shared232448"}, nullptr);
//
// Callers of this link LLVM. Thread-safe.
#ifndef EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_
#define EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_

#include <memory>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit::llvm_ir {

// Returns a compiler for the CPU that this runs on, and for all devices whose
// code LLVM makes. Errors are those of NewLlvmCompiler.
StatusOr<std::unique_ptr<ObjectCompiler>> NewFullCompiler();

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_

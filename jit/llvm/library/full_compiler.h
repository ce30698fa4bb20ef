// All that LLVM is used for: code for CPUs, and for devices whose code it
// makes.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewFullCompiler());
//   compiler->CompileToCode(nest, {.target = "sm_90a+shared232448"}, nullptr);
//
// Whoever calls this links LLVM. Thread-safe.
#ifndef EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_
#define EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_

#include <memory>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit {

// CPUs: the one that this runs on. Errors: as NewLlvmCompiler.
StatusOr<std::unique_ptr<ObjectCompiler>> NewFullCompiler();

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_LIBRARY_FULL_COMPILER_H_

// Compiles loop nests to machine code of CPUs with LLVM: as functions of this
// process, or as a kernel image for any processor (vm/format/kernel_image.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewLlvmCompiler());
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler->Compile(nest, {.effort = Effort::kFull}));
//
// Callers of this link LLVM. Programs that should not have it in memory load it
// as a library when they need it (jit/llvm/library/llvm_library.h), or use the
// compile worker. Code generation decides nothing: the nest says which loops
// are vectors or unrolled. LLVM's own loop vectoriser and unroller are off.
// Thread-safe.
#ifndef EMBER_JIT_LLVM_COMPILER_H_
#define EMBER_JIT_LLVM_COMPILER_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit::llvm_ir {

// Returns a compiler for the CPU that this runs on, with all its features, or
// for `cpu`, a text in the form of jit/llvm/passes/host.h ("x86-64-v3",
// "x86-64-v4+avx512vnni"). Code can only be loaded here if this machine's CPU
// has all features of `cpu`. Returns kUnimplemented with the reason if LLVM
// cannot make code for `cpu`.
StatusOr<std::unique_ptr<ObjectCompiler>> NewLlvmCompiler(
    const std::string& cpu = "");

// Returns the features of `cpu` that this machine lacks, as text for people;
// empty if code for `cpu` runs here.
StatusOr<std::string> MissingHere(const std::string& cpu);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_COMPILER_H_

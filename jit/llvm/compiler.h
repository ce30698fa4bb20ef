// Loop nests to machine code of CPUs, by LLVM: of this process, or of a kernel
// image for any processor (vm/format/kernel_image.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          NewLlvmCompiler());
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler->Compile(nest, {.effort = Effort::kFull}));
//
// Whoever calls this links LLVM. Programs that should not have it in memory
// load it as a library when they need it (jit/llvm/library/llvm_library.h), or
// ask the compile worker. Code generation decides nothing: which loops are
// vectors or unrolled is the nest's; LLVM's own loop vectoriser and unroller
// are off. Thread-safe.
#ifndef EMBER_JIT_LLVM_COMPILER_H_
#define EMBER_JIT_LLVM_COMPILER_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit {

// For the CPU that this runs on, with all its features; or for `cpu`, as
// jit/llvm/host.h reads it ("x86-64-v3", "x86-64-v4+avx512vnni"), which this
// one can do all of if its code is to be loaded. kUnimplemented with the reason
// if LLVM cannot make code for it.
StatusOr<std::unique_ptr<ObjectCompiler>> NewLlvmCompiler(
    const std::string& cpu = "");

// What this machine lacks of that CPU, for people; empty if code for it runs
// here.
StatusOr<std::string> MissingHere(const std::string& cpu);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_COMPILER_H_

// LLVM, and what Ember does with it, as a library of its own that a process
// loads when it first compiles by itself: the compile worker, and a program
// whose session compiles in a thread. A program whose kernels come from the
// worker, from files or from the cache never has it in memory.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          LoadLlvmCompiler());
//
// The library lies beside the one that this was linked into, and is of the same
// build, so that C++ types may cross. Neither environment nor working folder
// are asked. Thread-safe.
#ifndef EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_
#define EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit {

inline constexpr char kLlvmLibrary[] = "libember_llvm.so";

// Its path, for programs and libraries that lie in `folder`; empty: in that of
// the one that this was linked into. NotFound where it is not there.
StatusOr<std::string> FindLlvmLibrary(const std::string& folder = "");

// The compiler of full_compiler.h. The library stays loaded. NotFound with what
// the loader says; else as NewFullCompiler.
StatusOr<std::unique_ptr<ObjectCompiler>> LoadLlvmCompiler();

// The library's only symbol, and what it is: false with why.
inline constexpr char kNewLlvmCompilerSymbol[] = "EmberNewLlvmCompiler";
using NewLlvmCompilerFunction = bool(std::unique_ptr<ObjectCompiler>* compiler,
                                     std::string* error);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

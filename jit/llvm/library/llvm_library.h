// Loads LLVM, and Ember's code that uses it, as a shared library when a process
// first compiles by itself: the compile worker does, and a program whose
// session compiles in a thread. A program whose kernels come from the worker,
// from files or from the cache never has LLVM in memory.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          LoadLlvmCompiler());
//
// The library is searched in the folder of the program or library that this
// code is linked into; neither the environment nor the working folder matters.
// Both must be of the same build, because C++ objects are passed between them.
// Thread-safe.
#ifndef EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_
#define EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit::llvm_ir {

inline constexpr char kLlvmLibrary[] = "libember_llvm.so";

// Returns the path of the LLVM library for programs and libraries in `folder`.
// If `folder` is empty, it is the folder of the program or library that this
// code is linked into. Returns NotFound if the LLVM library is not there.
StatusOr<std::string> FindLlvmLibrary(const std::string& folder = "");

// Loads the LLVM library and returns its compiler (full_compiler.h). The
// library stays loaded. Errors: NotFound with the loader's message;
// Unimplemented with the message of an error of NewFullCompiler.
StatusOr<std::unique_ptr<ObjectCompiler>> LoadLlvmCompiler();

// kNewLlvmCompilerSymbol is the name of the LLVM library's only symbol, a
// function of type NewLlvmCompilerFunction. The function returns false and sets
// `error` if it fails.
inline constexpr char kNewLlvmCompilerSymbol[] = "EmberNewLlvmCompiler";
using NewLlvmCompilerFunction = bool(std::unique_ptr<ObjectCompiler>* compiler,
                                     std::string* error);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

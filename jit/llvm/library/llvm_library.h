// Loads LLVM, and Ember's code that uses it, as a library of its own when a
// process first compiles by itself. These are the compile worker, and a program
// whose session compiles in a thread. A program whose kernels come from the
// worker, from files or from the cache never has LLVM in memory.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
//                          LoadLlvmCompiler());
//
// The library is in the folder of the one that this was linked into. Both are
// of the same build, so that C++ types may cross. Neither the environment nor
// the working folder matters. Thread-safe.
#ifndef EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_
#define EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"

namespace ember::jit::llvm_ir {

inline constexpr char kLlvmLibrary[] = "libember_llvm.so";

// Returns the library's path, for programs and libraries in `folder`; if that
// is empty, in the folder of the one that this was linked into. Returns
// NotFound if it is not there.
StatusOr<std::string> FindLlvmLibrary(const std::string& folder = "");

// Loads the library and returns the compiler of full_compiler.h. The library
// stays loaded. Returns NotFound with the loader's message; other errors are
// those of NewFullCompiler.
StatusOr<std::unique_ptr<ObjectCompiler>> LoadLlvmCompiler();

// The name of the library's only symbol, and the type of the function with this
// name. The function returns false and sets an error if it fails.
inline constexpr char kNewLlvmCompilerSymbol[] = "EmberNewLlvmCompiler";
using NewLlvmCompilerFunction = bool(std::unique_ptr<ObjectCompiler>* compiler,
                                     std::string* error);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_LIBRARY_LLVM_LIBRARY_H_

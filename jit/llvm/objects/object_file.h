// Writes a native library (vm/format/native_library.h) as an object file for a
// linker, with LLVM's assembler: ELF, or Mach-O for Apple's systems.
//
//   UseAllTargets();
//   EMBER_ASSIGN_OR_RETURN(std::string object, WriteObjectFile(
//       library, "aarch64-linux-gnu", "ember_kernels_model"));
//
// Code is in the text section, everything else in read-only data. The data
// refers to the code only by distances, which are relocations that a linker
// resolves, so it is position-independent. Thread-safe.
#ifndef EMBER_JIT_LLVM_OBJECTS_OBJECT_FILE_H_
#define EMBER_JIT_LLVM_OBJECTS_OBJECT_FILE_H_

#include <string>

#include "base/status.h"
#include "vm/format/native_library.h"

namespace ember::jit::llvm_ir {

// Returns the object file's contents. `triple`: the target in LLVM's form; for
// Apple's systems it includes the lowest supported version,
// "arm64-apple-ios13.0". `symbol`: the C name of the library's table. Errors:
// Unimplemented if LLVM has no back end; InvalidArgument for more bytes than
// relocations of 32 bits reach, on ARMv7.
StatusOr<std::string> WriteObjectFile(const vm::NativeLibrary& library,
                                      const std::string& triple,
                                      const std::string& symbol);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_OBJECTS_OBJECT_FILE_H_

// Converts an object file of LLVM to the code of a kernel image: the bytes of
// its sections, joined, with all relocations resolved, so that running it needs
// no linker. Works for each processor that kernels are made for, not only for
// this one.
//
//   EMBER_ASSIGN_OR_RETURN(vm::KernelCode code,
//                          FlattenObject(object, {"phase0"}));
//   code.entries[0]   // offset of phase0
//
// Kernels only refer to their own code and data, by distances, so the code may
// be loaded at any address. Object files with other references are refused.
// Unwind tables are left out, because no exception passes through a kernel.
// Thread-safe.
//
// Source: the psABI supplements of x86-64, AArch64 ("ELF for the Arm 64-bit
// Architecture") and Arm ("ELF for the Arm Architecture"), tables of
// relocations.
#ifndef EMBER_JIT_LLVM_OBJECTS_FLAT_CODE_H_
#define EMBER_JIT_LLVM_OBJECTS_FLAT_CODE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::jit::llvm_ir {

// Returns the code of an object file as joined bytes; for WebAssembly, as a
// module (wasm_module.h). `symbols`: names of the functions that are the code's
// entries, in order. Returns kInternal if the object file lacks one of them, or
// has a section or a relocation that kernels never have.
StatusOr<vm::KernelCode> FlattenObject(std::string_view object,
                                       std::span<const std::string> symbols);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_OBJECTS_FLAT_CODE_H_

// Converts an object file of LLVM to code of a kernel image: its sections in
// one piece, with all relocations resolved, so that running it needs no linker.
// Works for each processor that kernels are made for, whichever this one is.
//
//   EMBER_ASSIGN_OR_RETURN(vm::KernelCode code,
//                          FlattenObject(object, {"phase0"}));
//   code.entries[0]   // offset of phase0
//
// Kernels refer only to themselves, and relative to their place. Anything else
// in an object file is refused. Unwind tables are left out: nothing is thrown
// through kernels. Thread-safe.
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

// Returns the code of an object file in one piece. symbols: the symbols of the
// entries, in order. Returns kInternal if the object lacks one of them, or has
// a section or a relocation that kernels never have.
StatusOr<vm::KernelCode> FlattenObject(std::string_view object,
                                       std::span<const std::string> symbols);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_OBJECTS_FLAT_CODE_H_

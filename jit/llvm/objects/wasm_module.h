// Converts a relocatable object file of WebAssembly to a module that a page can
// instantiate: the code of a kernel image for wasm32.
//
//   EMBER_ASSIGN_OR_RETURN(vm::KernelCode code,
//                          WasmModuleOf(object, {"phase0", "phase1"}));
//   code.entries   // {0, 1}: the module exports its functions as "f0", "f1"
//
// The module imports "ember.memory". If its functions need them, it also
// imports "ember.stack", the pointer to the runtime's stack, and "ember.data",
// the address of memory for its constants, which are copied there when the
// module is instantiated. A custom section "ember.data" then holds the size of
// the constants in bytes, as a 32-bit number. The object file has to be
// position-independent.
//
// The numbers of types, functions and globals and the offsets of constants stay
// those of the object file, which has already put them into the code: so the
// code is copied as it is. Only a linker could resolve a call of a function of
// another module. Kernels make no such calls, so an object file with one is
// refused. Thread-safe.
//
// Source: "WebAssembly Object File Linking" of the WebAssembly tool
// conventions.
#ifndef EMBER_JIT_LLVM_OBJECTS_WASM_MODULE_H_
#define EMBER_JIT_LLVM_OBJECTS_WASM_MODULE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::jit::llvm_ir {

// True if the bytes begin with WebAssembly's magic number.
bool IsWasmObject(std::string_view object);

// Returns the module as the code of a kernel image. `symbols`: names of the
// functions that are its entries, in order. Returns kInternal if the object
// file lacks one of them or has a part that kernels never have.
StatusOr<vm::KernelCode> WasmModuleOf(std::string_view object,
                                      std::span<const std::string> symbols);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_OBJECTS_WASM_MODULE_H_

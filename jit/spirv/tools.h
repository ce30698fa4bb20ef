// Validates and disassembles modules with SPIRV-Tools' library, in this
// process.
//
//   EMBER_RETURN_IF_ERROR(ValidateModule(code.words));
//
// Debian 12's library (2023.1) is older than cooperative matrices. It cannot
// validate modules that have cooperative matrices, and DisassembleModule itself
// makes the text of their instructions. Thread-safe.
#ifndef EMBER_JIT_SPIRV_TOOLS_H_
#define EMBER_JIT_SPIRV_TOOLS_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace ember::jit::spirv {

// Validates the module for Vulkan 1.2. Returns kInternal with the validator's
// message, since an invalid module is a bug of the emitter. Returns
// kUnimplemented if the module has cooperative matrices, which this SPIRV-Tools
// does not know.
Status ValidateModule(std::span<const uint32_t> words);

// Returns the module as text, with names. If the module cannot be read, returns
// a description of the error. If it has cooperative matrices that SPIRV-Tools
// does not know, numbers replace names, and the first lines say so.
std::string DisassembleModule(std::span<const uint32_t> words);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TOOLS_H_

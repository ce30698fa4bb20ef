// What SPIRV-Tools' library does for modules, in this process.
//
//   EMBER_RETURN_IF_ERROR(ValidateModule(code.words));
//
// That of Debian 12 (2023.1) is older than cooperative matrices: of modules
// with those it can say nothing, and the text of their instructions is made
// here. Thread-safe.
#ifndef EMBER_JIT_SPIRV_TOOLS_H_
#define EMBER_JIT_SPIRV_TOOLS_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace ember::jit::spirv {

// spirv-val for Vulkan 1.2: kInternal with its words, as a module that is wrong
// is a bug of the emitter. kUnimplemented: the module has cooperative matrices,
// which this SPIRV-Tools does not know.
Status ValidateModule(std::span<const uint32_t> words);

// As text, with names; what is wrong with it, if it cannot be read. Of modules
// with cooperative matrices that SPIRV-Tools does not know, with numbers in
// place of names; the first lines say so.
std::string DisassembleModule(std::span<const uint32_t> words);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_TOOLS_H_

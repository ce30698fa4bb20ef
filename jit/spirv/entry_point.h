// What a module says of an entry point: its name, how many invocations a
// workgroup has, and how floats of each width round, as far as the device can
// be asked; and which workgroup runs it.
#ifndef EMBER_JIT_SPIRV_ENTRY_POINT_H_
#define EMBER_JIT_SPIRV_ENTRY_POINT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "jit/spirv/code_builder.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

// interface: the variables that the function uses.
void DeclareEntryPoint(ModuleBuilder& module, Id function,
                       std::string_view name, std::span<const Id> interface,
                       int64_t invocations, const Target& target);

// The number of the workgroup: x + y * (how many there are along x).
Value WorkgroupNumber(CodeBuilder& code);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_ENTRY_POINT_H_

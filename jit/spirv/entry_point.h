// Declares an entry point: its name, the number of invocations of a workgroup,
// and the rounding of floats of each width, as far as the device supports a
// choice. Also emits the number of the workgroup that runs it.
#ifndef EMBER_JIT_SPIRV_ENTRY_POINT_H_
#define EMBER_JIT_SPIRV_ENTRY_POINT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "jit/spirv/code_builder.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

// Declares the function as an entry point. interface: the variables that the
// function uses.
void DeclareEntryPoint(ModuleBuilder& module, Id function,
                       std::string_view name, std::span<const Id> interface,
                       int64_t invocations, const Target& target);

// Returns the number of the workgroup: x + y * (number of workgroups along x).
Value WorkgroupNumber(CodeBuilder& code);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_ENTRY_POINT_H_

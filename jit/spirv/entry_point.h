// Declares entry points: their names, the number of invocations of a workgroup,
// and the modes of floats (rounding, subnormals, NaNs) that the device
// supports. Also emits the computation of the workgroup's number.
#ifndef EMBER_JIT_SPIRV_ENTRY_POINT_H_
#define EMBER_JIT_SPIRV_ENTRY_POINT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "jit/spirv/code_builder.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

// Declares the function as an entry point. `interface`: the global variables
// that the function uses.
void DeclareEntryPoint(ModuleBuilder& module, Id function,
                       std::string_view name, std::span<const Id> interface,
                       int64_t invocations, const Target& target);

// Emits the number of the workgroup: x + y * (number of workgroups along x). A
// launch uses both dims because devices limit the number along x.
Value WorkgroupNumber(CodeBuilder& code);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_ENTRY_POINT_H_

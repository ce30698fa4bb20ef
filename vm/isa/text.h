// Text of programs and of whole modules; the grammar is vm/isa/GRAMMAR.md.
//
//   program main<N>(x: f32[N, 3]) -> (y: f32[N, 3]) {
//     i0 = input_dim x 0
//     b0 = input x
//     b1 = constant 5 (fc.weight)
//     b2 = arena 4096
//     dispatch @fc(i0; b0, b1 -> b2)
//     result y = b2 [i0, i1]
//     return
//   }
//
// ParseProgram(PrintProgram(p)) == p for every verified program. A module's
// text contains the values of a constant only if it is small
// (inline_constant_bytes). ParseModule refuses a text in which the values of a
// constant are missing, and names the constant.
#ifndef EMBER_VM_ISA_TEXT_H_
#define EMBER_VM_ISA_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

struct ModuleTextOptions {
  // Largest size in bytes of a constant whose values are printed; -1: the
  // values of all constants are printed.
  int64_t inline_constant_bytes = 64;
};

// Returns the text of a program. The module provides the names of dispatches
// and constants.
std::string PrintProgram(const Program& program,
                         const ModuleDefinition& module);
StatusOr<Program> ParseProgram(std::string_view text,
                               const ModuleDefinition& module);

std::string PrintModule(const ModuleDefinition& module,
                        const ModuleTextOptions& options = {});
// Parses a module. The result is not verified yet (VerifyModule does that).
StatusOr<ModuleDefinition> ParseModule(std::string_view text);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_TEXT_H_

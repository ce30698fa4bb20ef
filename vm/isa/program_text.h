// Parts of the text form that the printer and the parser of programs and
// modules share. Internal; use vm/isa/text.h.
#ifndef EMBER_VM_ISA_PROGRAM_TEXT_H_
#define EMBER_VM_ISA_PROGRAM_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lexer.h"
#include "base/printer.h"
#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the name in the form that the lexer reads back: as it is if it is an
// identifier, otherwise quoted.
std::string NameText(std::string_view name);
// Parses a name, which is bare or quoted.
StatusOr<std::string> ParseName(Lexer& lexer, std::string_view what);

// Returns the index of the only item with this name; -1 if no item or several
// have it.
template <typename Items, typename GetName>
int64_t FindUnique(const Items& items, std::string_view name,
                   const GetName& get_name) {
  int64_t found = -1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (get_name(items[i]) != name) continue;
    if (found >= 0) return -1;
    found = static_cast<int64_t>(i);
  }
  return found;
}

// Parses a type such as "f32[2, 3]": the element type and, by calling
// parse_dim, the dims.
StatusOr<DType> ParseType(Lexer& lexer);

void PrintProgramTo(Printer& printer, const Program& program,
                    const ModuleDefinition& module);

// A call of a program that the text names. The called program may follow later
// in the text, so its number is set afterwards (ResolveCalls).
struct CallReference {
  uint32_t instruction = 0;
  Token name;
};
struct ParsedProgram {
  Program program;
  std::vector<CallReference> calls;
};
StatusOr<ParsedProgram> ParseProgramFrom(Lexer& lexer,
                                         const ModuleDefinition& module);
// Sets the numbers of the called programs in the caller's call instructions,
// once all programs have been parsed.
Status ResolveCalls(std::span<const CallReference> calls,
                    const std::vector<Program>& programs, Program& caller);

// Returns the text of a constant's values, such as "[1, 2.5, -inf]", or its
// bytes in hexadecimal digits, such as "0011aa", if some values cannot be
// written as numbers (NaNs).
std::string ConstantValuesText(const Constant& constant);
// Parses the values of a constant into memory that the constant owns.
Status ParseConstantValues(Lexer& lexer, Constant& constant);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_PROGRAM_TEXT_H_

// The library functions that operators' records name, and whether what a record
// hands to one is what the function's row takes.
//
//   FunctionNamed("top_k") == vm::LibraryFunction::kTopK
//   LettersOf(OperatorNamed("top_k")) == "iiiiiibww"   // as in the row
//
// Thread-safe.
#ifndef EMBER_COMPILER_LOWERING_LIBRARY_OPERANDS_H_
#define EMBER_COMPILER_LOWERING_LIBRARY_OPERANDS_H_

#include <string>
#include <string_view>

#include "compiler/graph/operators.h"
#include "vm/isa/library_functions.h"

namespace ember::compiler {

// Checked: for names written in our own records.
vm::LibraryFunction FunctionNamed(std::string_view text);

// The operands of the record's call in the letters of
// vm/isa/library_functions.h.
std::string LettersOf(const graph::OperatorRecord& record);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_LIBRARY_OPERANDS_H_

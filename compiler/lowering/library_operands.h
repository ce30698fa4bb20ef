// Finds the library functions that operators' records name, and the kinds of
// operands that a record passes, for comparison with the function's row.
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

// Returns the function with this name. The name comes from records of
// operators; an unknown one fails a check.
vm::LibraryFunction FunctionNamed(std::string_view text);

// Returns the operands of the record's call in the letters of
// vm/isa/library_functions.h.
std::string LettersOf(const graph::OperatorRecord& record);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_LIBRARY_OPERANDS_H_

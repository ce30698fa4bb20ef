// Operations on strings: calls of library functions that write where they are
// told to, but for the parts of a split, whose number they find.
#include "compiler/graph/operators.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::Dim;
using graph::Operation;
using graph::Value;
using vm::LibraryFunction;

namespace {

struct Row {
  std::string_view name;
  LibraryFunction function;
};

// Those that take the number of elements and their operands, nothing else.
constexpr Row kPlain[] = {
    {"string_concat", LibraryFunction::kStringConcat},
    {"string_lower", LibraryFunction::kStringLower},
    {"string_upper", LibraryFunction::kStringUpper},
    {"string_rank", LibraryFunction::kStringRank},
};

}  // namespace

bool ProgramEmitter::EmitStringOperation(const Operation& operation) {
  const auto& attributes = operation.attributes();
  const Value* x = operation.operand(0);
  const auto memory = [&](int i) {
    return BufferOf(StorageRoot(operation.operand(i)));
  };
  const auto integer = [&](std::string_view name) {
    return builder_.DimRegister(Dim(attributes.Get<int64_t>(name)));
  };
  for (const Row& row : kPlain) {
    if (operation.name() != row.name) continue;
    std::vector<uint32_t> operands = {CountRegister(x)};
    for (int i = 0; i < operation.operand_count(); ++i)
      operands.push_back(memory(i));
    operands.push_back(BufferOf(operation.result()));
    EmitLibraryCall(row.function, operands);
    return true;
  }
  if (operation.name() == "string_split") {
    const uint32_t parts = builder_.NewInteger();
    EmitLibraryCall(LibraryFunction::kStringSplit,
                    {CountRegister(x), integer("delimiter"), integer("most"),
                     memory(0), NewBufferOf(operation.result(0)),
                     BufferOf(operation.result(1)), parts});
    builder_.BindSymbol(graph::DefinedSymbols(operation).front(), parts);
  } else if (operation.name() == "string_to_number") {
    EmitLibraryCall(
        LibraryFunction::kStringToNumber,
        {TypeRegister(operation.result()->dtype()), CountRegister(x), memory(0),
         BufferOf(operation.result())});
  } else if (operation.name() == "number_to_string") {
    EmitLibraryCall(LibraryFunction::kNumberToString,
                    {TypeRegister(x->dtype()), CountRegister(x), memory(0),
                     BufferOf(operation.result())});
  } else if (operation.name() == "regex_full_match") {
    EmitLibraryCall(LibraryFunction::kRegexFullMatch,
                    {CountRegister(x), integer("pattern"), memory(0),
                     BufferOf(operation.result())});
  } else {
    return false;
  }
  return true;
}

}  // namespace ember::compiler

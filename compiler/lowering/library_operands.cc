#include "compiler/lowering/library_operands.h"

#include "base/check.h"

namespace ember::compiler {
namespace {

using graph::CallOperand;
using graph::ResultMemory;

char LetterOf(const graph::OperatorRecord& record, const CallOperand& operand) {
  switch (operand.kind) {
    case CallOperand::Kind::kFound:
      return 'I';
    case CallOperand::Kind::kMemory:
      return 'b';
    case CallOperand::Kind::kResultMemory: {
      const bool is_made = record.result_memory == ResultMemory::kMade ||
                           (record.result_memory == ResultMemory::kFirstMade &&
                            operand.number == 0);
      return is_made ? 'B' : 'w';
    }
    default:
      return 'i';
  }
}

}  // namespace

vm::LibraryFunction FunctionNamed(std::string_view text) {
  for (uint32_t i = 0; i < vm::kLibraryFunctionCount; ++i) {
    if (vm::LibraryInfoOf(i).text == text)
      return static_cast<vm::LibraryFunction>(i);
  }
  EMBER_CHECK(false) << "no library function '" << text << "'";
  __builtin_unreachable();
}

std::string LettersOf(const graph::OperatorRecord& record) {
  std::string letters;
  for (const CallOperand& operand : record.call.operands)
    letters += LetterOf(record, operand);
  return letters;
}

}  // namespace ember::compiler

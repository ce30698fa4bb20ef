// Keywords that the printer and the parser share. Internal to the text form.
#ifndef EMBER_TENSOR_TEXT_TABLES_H_
#define EMBER_TENSOR_TEXT_TABLES_H_

#include <string_view>

#include "tensor/dispatch.h"

namespace ember::tensor {

// Names of each Combiner and each Update in the text form. The names "min" and
// "max" are not used, because they are instructions.
inline constexpr std::string_view kCombinerNames[] = {
    "none", "sum", "prod", "minimum", "maximum", "fold"};
inline constexpr std::string_view kUpdateNames[] = {"=",
                                                    "+=", "*=", "min=", "max="};

// Precedences of infix instructions: one with a larger number binds tighter.
inline constexpr int kComparePrecedence = 1;
inline constexpr int kSumPrecedence = 2;
inline constexpr int kProductPrecedence = 3;
inline constexpr int kPrefixPrecedence = 4;

constexpr int PrecedenceOf(Opcode opcode) {
  const InstructionInfo& info = InfoOf(opcode);
  if (info.notation != Notation::Infix) return kPrefixPrecedence;
  if (info.group == InstructionGroup::kCompare) return kComparePrecedence;
  return opcode == Opcode::kAdd || opcode == Opcode::kSubtract
             ? kSumPrecedence
             : kProductPrecedence;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_TABLES_H_

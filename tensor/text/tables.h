// Keywords that the printer and the parser share. Internal to the text form.
#ifndef EMBER_TENSOR_TEXT_TABLES_H_
#define EMBER_TENSOR_TEXT_TABLES_H_

#include <charconv>
#include <cstdint>
#include <string_view>

#include "tensor/dispatch.h"

namespace ember::tensor {

// Names of each Combiner and each Update in the text form. No combiner is named
// "min" or "max", because these are instructions.
inline constexpr std::string_view kCombinerNames[] = {
    "none", "sum", "prod", "minimum", "maximum", "fold"};
inline constexpr std::string_view kUpdateNames[] = {"=",
                                                    "+=", "*=", "min=", "max="};

// Precedences of infix instructions; a larger number binds tighter.
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

// In a loop nest, this word marks an i64 value that may not fit 32 bits: wide(N
// * M).
inline constexpr std::string_view kWideWord = "wide";

// In a loop nest, a pad or a check may name the bounds that must be tested in
// each dim: pad(%x[i - 1, j], 0.0, unsigned, none). The names are indexed by
// loops::BoundsTest.
inline constexpr std::string_view kTestNames[] = {"both", "unsigned", "upper",
                                                  "none"};

// In a loop nest, this word and a number mark a load or a store of several
// neighbouring elements: vec4(%x[i]).
inline constexpr std::string_view kVectorWord = "vec";

// Returns the number of elements that a word such as "vec4" names; 0 if the
// word names none.
inline uint32_t VectorWidth(std::string_view word) {
  if (!word.starts_with(kVectorWord)) return 0;
  word.remove_prefix(kVectorWord.size());
  uint32_t width = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, width);
  return read.ec == std::errc() && read.ptr == end ? width : 0;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_TABLES_H_

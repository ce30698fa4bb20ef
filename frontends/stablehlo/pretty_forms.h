// Describes pretty forms where they differ from the generic form: the attribute
// of each keyword, and the words without a keyword.
//
//   stablehlo.compare EQ, %a, %b, FLOAT : …      words
//   stablehlo.transpose %a, dims = [1, 0] : …    keywords
//
//   const PrettyForm& form = PrettyFormOf("stablehlo.transpose");
//   form.AttributeOf("dims")   // "permutation"
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_PRETTY_FORMS_H_
#define EMBER_FRONTENDS_STABLEHLO_PRETTY_FORMS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace ember::stablehlo {

// The meaning of the types after ':' unless they are (types) -> types.
enum class TypeForm : uint8_t {
  // One type is that of all operands and results. Several are those of the
  // operands, then that of the result.
  kSame,
  kResult,    // Type of the result; operands keep their own.
  kPairwise,  // Types of the operands; results have the same.
  kOperands,  // Types of the operands; there are no results.
  kSelect,    // Type of the predicate, then that of all others.
};

struct PrettyForm {
  struct Keyword {
    std::string_view text, attribute;
  };
  std::string_view operation;
  TypeForm types = TypeForm::kSame;
  // The attributes of the words, in order.
  std::span<const std::string_view> words = {};
  std::span<const Keyword> keywords = {};

  // Returns the keyword itself if it is not listed.
  std::string_view AttributeOf(std::string_view keyword) const;
};

// Operations that are not listed have a form without words and keywords.
const PrettyForm& PrettyFormOf(std::string_view operation);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PRETTY_FORMS_H_

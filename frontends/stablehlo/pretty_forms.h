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

// The meaning of the list of types after ':' in a pretty form. A list of the
// form (types) -> types has its own meaning.
enum class TypeForm : uint8_t {
  // A single type is that of all operands and results. Several types are those
  // of the operands, followed by that of the result.
  kSame,
  // The type is that of the result. The types of the operands are known.
  kResult,
  // The types are those of the operands, and the results have the same types.
  kPairwise,
  kOperands,  // The types are those of the operands. There are no results.
  // The types are that of the predicate, and that of all other operands and the
  // result.
  kSelect,
};

struct PrettyForm {
  struct Keyword {
    std::string_view text, attribute;
  };
  std::string_view operation;
  TypeForm types = TypeForm::kSame;
  // The names of the attributes that the words without a keyword give, in
  // order.
  std::span<const std::string_view> words = {};
  std::span<const Keyword> keywords = {};

  // Returns the name of the attribute that a keyword gives; the keyword itself
  // if the form does not list it.
  std::string_view AttributeOf(std::string_view keyword) const;
};

// Returns the pretty form of an operation. An operation that is not listed has
// a form without words and keywords.
const PrettyForm& PrettyFormOf(std::string_view operation);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PRETTY_FORMS_H_

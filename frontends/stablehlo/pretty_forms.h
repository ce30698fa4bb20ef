// How operations are written where that differs from the generic form: which
// attribute each keyword is, and which words stand alone.
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

// What the types behind ':' are, where they are no (types) -> types.
enum class TypeForm : uint8_t {
  kSame,      // one: that of all operands and results; several: each operand's,
              // then the result's is the last
  kResult,    // one, of the result; operands have what they have
  kPairwise,  // of the operands, and results are the same
  kOperands,  // of the operands; no results
  kSelect,    // of the predicate, and of all else
};

struct PrettyForm {
  struct Keyword {
    std::string_view text, attribute;
  };
  std::string_view operation;
  TypeForm types = TypeForm::kSame;
  // Attributes that words give, in their order.
  std::span<const std::string_view> words = {};
  std::span<const Keyword> keywords = {};

  // The keyword itself where it is not listed.
  std::string_view AttributeOf(std::string_view keyword) const;
};

// One without words and keywords for operations that are not listed.
const PrettyForm& PrettyFormOf(std::string_view operation);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PRETTY_FORMS_H_

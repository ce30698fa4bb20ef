#include "jit/c_like/element_number.h"

#include <utility>

#include "base/concat.h"
#include "jit/c_like/literals.h"

namespace ember::jit::c_like {
namespace {

// Returns the product modulo 2^64. The language's size type wraps modulo 2^64
// or a smaller power of two, so the result is right there, too.
int64_t Product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

}  // namespace

// Appends " + x" or " - x" to the text of a sum.
void ElementNumber::Append(std::string& text, bool is_negative,
                           const std::string& what) const {
  if (!text.empty()) {
    text += Concat({is_negative ? " - " : " + ", what});
  } else if (is_negative) {
    const std::string zero = CastTo(*language_, language_->types.size, "0");
    text = Concat({zero, " - ", what});
  } else {
    text = what;
  }
}

void ElementNumber::Add(std::string term, int64_t coefficient) {
  if (coefficient == 0) return;
  terms_.push_back({.text = std::move(term), .coefficient = coefficient});
}

void ElementNumber::Add(int64_t constant) {
  constant_ = Sum(constant_, constant);
}

void ElementNumber::MultiplyBy(int64_t factor) {
  for (Term& term : terms_)
    term.coefficient = Product(term.coefficient, factor);
  constant_ = Product(constant_, factor);
}

void ElementNumber::MultiplyBy(const std::string& factor) {
  if (terms_.empty() && constant_ == 0) return;
  terms_ = {{.text = Concat({"((", Text(), ") * ", factor, ")"})}};
  constant_ = 0;
}

std::string ElementNumber::Text() const {
  std::string text;
  // Added terms come first and subtracted ones last, because a sum that begins
  // with a subtracted term needs a 0 before it.
  for (const bool is_negative : {false, true}) {
    for (const Term& term : terms_) {
      if (is_negative != (term.coefficient < 0)) continue;
      const int64_t size =
          is_negative ? Product(term.coefficient, -1) : term.coefficient;
      Append(text, is_negative,
             size == 1
                 ? term.text
                 : Concat({term.text, " * ", SizeLiteral(*language_, size)}));
    }
    if (constant_ != 0 && is_negative == (constant_ < 0)) {
      Append(text, is_negative,
             SizeLiteral(*language_,
                         is_negative ? Product(constant_, -1) : constant_));
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace ember::jit::c_like

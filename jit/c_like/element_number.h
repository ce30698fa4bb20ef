// Builds the text of an element's row-major number in its buffer, as a sum in
// the language's type of sizes. Callers add the indices by Horner's rule, from
// the first dim to the last; constants are multiplied out.
//
//   ElementNumber number(c::kLanguage);
//   number.Add("(size_t)i", 1);
//   number.MultiplyBy(28);
//   number.Add("(size_t)j", 1);
//   number.Add(-1);
//   number.Text();   // "(size_t)i * 28 + (size_t)j - 1"
//
// A plain value.
#ifndef EMBER_JIT_C_LIKE_ELEMENT_NUMBER_H_
#define EMBER_JIT_C_LIKE_ELEMENT_NUMBER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "jit/c_like/language.h"

namespace ember::jit::c_like {

class ElementNumber {
 public:
  // language: must outlive this object
  explicit ElementNumber(const Language& language) : language_(&language) {}

  // Adds coefficient * term. `term` is an expression in the type of sizes that
  // needs no parentheses in a product.
  void Add(std::string term, int64_t coefficient);
  void Add(int64_t constant);
  void MultiplyBy(int64_t factor);
  void MultiplyBy(const std::string& factor);

  std::string Text() const;

 private:
  struct Term {
    std::string text;
    int64_t coefficient = 1;
  };

  void Append(std::string& text, bool is_negative,
              const std::string& what) const;

  const Language* language_;
  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_ELEMENT_NUMBER_H_

// The number of an element in its buffer, as a sum in size_t. The sum is built
// by Horner's rule from the first dim to the last, with constants multiplied
// out.
//
//   ElementNumber number;
//   number.Add("(size_t)i", 1);
//   number.MultiplyBy(28);
//   number.Add("(size_t)j", 1);
//   number.Add(-1);
//   number.Text();   // "(size_t)i * 28 + (size_t)j - 1"
//
// A plain value.
#ifndef EMBER_JIT_C_ELEMENT_NUMBER_H_
#define EMBER_JIT_C_ELEMENT_NUMBER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ember::jit::c {

class ElementNumber {
 public:
  // Adds coefficient * term. term: an expression that has type size_t and is
  // not a sum.
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
  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_ELEMENT_NUMBER_H_

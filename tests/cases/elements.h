// Prints and parses elements of buffers, and compares results.
//
//   EMBER_ASSIGN_OR_RETURN(uint64_t bits, ParseElement("-1.5", DType::kF32));
//   PrintElements(DType::kI32, bytes) == "1 2 -3"
//
// Integers are decimal. Floats have the shortest text that parses back to the
// same bits, or are inf, -inf, nan (any NaN). Bools are 0 and 1. Thread-safe.
#ifndef EMBER_TESTS_CASES_ELEMENTS_H_
#define EMBER_TESTS_CASES_ELEMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::cases {

using Bytes = std::vector<uint8_t>;

StatusOr<uint64_t> ParseElement(std::string_view text, DType type);
std::string PrintElement(uint64_t bits, DType type);
std::string PrintElements(DType type, std::span<const uint8_t> bytes);

int64_t CountElements(DType type, std::span<const uint8_t> bytes);

// Returns an element of an input for which a case gives no values: a small
// number, so that sums are exact in any order. Floats are multiples of a half
// from -4 to 4, integers 0 to 4. They depend only on the number of the buffer
// and of the element.
uint64_t SmallElement(DType type, size_t buffer, int64_t element);

struct Tolerance {
  // Relative tolerance of floats: a and b count as equal if |a - b| <= relative
  // * (1 + |a|).
  double relative = 0;
  // True if zeros of different signs count as equal.
  bool zeros_are_equal = false;
  // True if a subnormal number counts as equal to zero, in types other than
  // f64.
  bool subnormals_may_be_zero = false;
};

// Compares elements. Returns "element 3: expected 1, found 2", or "" if all are
// equal. All NaNs are equal.
std::string FirstDifference(DType type, std::span<const uint8_t> expected,
                            std::span<const uint8_t> found,
                            const Tolerance& tolerance);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_ELEMENTS_H_

// Elements of buffers as text, and the comparison of results.
//
//   EMBER_ASSIGN_OR_RETURN(uint64_t bits, ParseElement("-1.5", DType::kF32));
//   PrintElements(DType::kI32, bytes) == "1 2 -3"
//
// Integers are decimal; floats are as short as parses back to the same bits, or
// inf, -inf, nan (any NaN); bools are 0 and 1. Thread-safe.
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

// What inputs hold that a case says nothing of: small numbers, of which sums
// are exact in any order; floats are halves from -4 to 4, integers 0 to 4. The
// same for a buffer of the same number in every case.
uint64_t SmallElement(DType type, size_t buffer, int64_t element);

struct Tolerance {
  // For floats: |a - b| <= tolerance * (1 + |a|).
  double relative = 0;
  bool zeros_are_equal = false;         // whatever their sign
  bool subnormals_may_be_zero = false;  // of types other than f64
};

// "element 3: expected 1, found 2", or empty: equal, any NaN as good as
// another.
std::string FirstDifference(DType type, std::span<const uint8_t> expected,
                            std::span<const uint8_t> found,
                            const Tolerance& tolerance);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_ELEMENTS_H_

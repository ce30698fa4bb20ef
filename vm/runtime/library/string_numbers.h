// Converts numbers to texts and back, as Cast does.
//
//   NumberText(bits of 0.1f, DType::kF32) == "0.1"
//   ParseNumber("1e3", DType::kI64) == bits of 1000
//
// The text of a float is the shortest from which the same value is read back.
// It has no exponent for values between 1e-4 and 1e16 ("0.25", "3.0"),
// otherwise it has one ("1e+20"). Special floats are NaN, INF and -INF; bools
// are True and False. ParseNumber reads decimal numbers with or without
// exponent, and these words in upper or lower case, with white space around
// them. Integer types truncate fractions. Thread-safe.
#ifndef EMBER_VM_RUNTIME_LIBRARY_STRING_NUMBERS_H_
#define EMBER_VM_RUNTIME_LIBRARY_STRING_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::vm {

std::string NumberText(uint64_t bits, DType type);
// Returns the bits of the number that is written in the text. Returns
// InvalidArgument if the text is not a number of the type.
StatusOr<uint64_t> ParseNumber(std::string_view text, DType type);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_STRING_NUMBERS_H_

// Writes constants as the shortest text from which the same value is read back,
// and reads them. Internal to the text form.
//
//   3  -1  0.5  1e-07  inf  -inf  nan  true  false  bits(0x7fc00001)
#ifndef EMBER_TENSOR_TEXT_LITERAL_H_
#define EMBER_TENSOR_TEXT_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace ember::tensor {

// Returns the text of a constant, without its type. The text of a float always
// has a decimal point or an exponent, or is a word such as inf. A NaN other
// than the default quiet NaN is written as bits(...).
std::string FormatLiteral(uint64_t bits, DType type);

// Returns the bits of a number token ("12", "0.5", "0x1p-3"), with the opposite
// sign if `negative`. Returns nullopt if the token is not a number of that
// type: a fraction for an integer type, or a number that is out of the range of
// the type's finite values.
std::optional<uint64_t> NumberBits(std::string_view text, bool is_float_token,
                                   bool negative, DType type);
// Returns the bits of an infinity, or nullopt if the type has no infinity
// (f8e4m3fn).
std::optional<uint64_t> InfinityBits(bool negative, DType type);
uint64_t NanBits(DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_LITERAL_H_

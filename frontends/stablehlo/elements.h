// Reads the values of a constant as MLIR's files write them: lists of numbers,
// or hex.
//
//   MlirLexer lexer("[[1, 2], [3, 4]]>");
//   ParseElements(lexer, TensorOf("i32", {2, 2}));   // up to the '>'
//   // also "0x0000803F", and 1.0, which is a splat: the value of all elements
//
// Errors are one line that says where. Thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_ELEMENTS_H_
#define EMBER_FRONTENDS_STABLEHLO_ELEMENTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/stablehlo/lexer.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

StatusOr<Elements> ParseElements(MlirLexer& lexer, const Type& type);

// Makes elements of `type` from bytes of a file. The bytes hold all elements,
// one splat element, or bools at one bit each.
StatusOr<Elements> ElementsOfBytes(std::vector<uint8_t> bytes,
                                   const Type& type);

// Makes elements of `type` from bytes that have an owner, and shares the bytes
// if possible.
StatusOr<Elements> ElementsOfHeld(const Elements& held, const Type& type);

// Parses hex digits, which have no prefix 0x, as bytes.
StatusOr<std::vector<uint8_t>> BytesOfHex(std::string_view digits);

// Returns the number of elements; an error unless all dims are known and the
// bytes fit 64 bits.
StatusOr<int64_t> ElementCountOf(const Type& type);

// Parses one number. `negative`: true if a '-' precedes the number.
StatusOr<double> FloatValue(const Token& token, bool negative,
                            std::string_view element);
StatusOr<int64_t> SignedValue(const Token& token, bool negative);

// Returns integer elements as 64 bits each, with a splat repeated. The list is
// empty if the elements are not integers or bools, or if there are more than
// `most`.
std::vector<int64_t> IntegersOf(const Elements& elements, const Type& type,
                                int64_t most);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_ELEMENTS_H_

// Defines how C holds elements: types of variables and of memory, and
// constants.
//
//   TypeOf(DType::kF16);                       // "uint16_t"
//   LiteralOf(DType::kF32, 0x3fc00000);        // "0x1.8p+0f"
//
// An element has the same type in memory and in a variable. Floats of 16 bits
// are their bits, as C11 has no such floats; a bool is a byte of 0 or 1.
//
// Thread-safe.
#ifndef EMBER_JIT_C_TYPES_H_
#define EMBER_JIT_C_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace ember::jit::c {

std::string_view TypeOf(DType type);

// Returns the unsigned type in which C computes integers of this type, so that
// they wrap. The unsigned type has at least 32 bits, because C computes shorter
// types in `int`.
std::string_view WrappingTypeOf(DType type);

// Returns a constant of the type, given by its bits, as a literal. The literal
// may begin with a minus.
std::string LiteralOf(DType type, uint64_t bits);

// Returns a number of elements or an index as a literal, for arithmetic in
// size_t.
std::string SizeLiteral(int64_t value);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TYPES_H_

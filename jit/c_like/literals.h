// Prints constants as literals of a language.
//
//   LiteralOf(c::kLanguage, DType::kF32, 0x3fc00000);   // "0x1.8p+0f"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_LITERALS_H_
#define EMBER_JIT_C_LIKE_LITERALS_H_

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "jit/c_like/language.h"

namespace ember::jit::c_like {

// Returns the literal of a constant of the type, given by its bits. It may
// begin with a minus sign.
std::string LiteralOf(const Language& language, DType type, uint64_t bits);

// Returns the literal of a number of elements or an index, in the language's
// type of sizes.
std::string SizeLiteral(const Language& language, int64_t value);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_LITERALS_H_

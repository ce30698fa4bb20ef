// Prints casts and bitcasts that legalisation leaves, one to one.
//
//   Cast(c::kLanguage, DType::kF32, DType::kI32, true, "v1");   // "(int32_t)v1"
//   Bitcast(c::kLanguage, DType::kF32, DType::kU32, "v1");
//   // "ember_u32_of_f32(v1)"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_CONVERSIONS_H_
#define EMBER_JIT_C_LIKE_CONVERSIONS_H_

#include <optional>
#include <string>

#include "base/dtype.h"
#include "jit/c_like/language.h"

namespace ember::jit::c_like {

// Returns the cast as an expression; nothing for a cast that legalisation
// replaces.
std::optional<std::string> Cast(const Language& language, DType from, DType to,
                                bool is_raw, const std::string& value);

// Returns the bits of the value as another type. Both types have the same size.
std::string Bitcast(const Language& language, DType from, DType to,
                    const std::string& value);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_CONVERSIONS_H_

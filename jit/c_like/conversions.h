// Prints the casts and bitcasts that legalisation leaves, each as one
// expression.
//
//   Cast(c::kLanguage, DType::kF32, DType::kI32, true, "v1");   // "(int32_t)v1"
//   Bitcast(c::kLanguage, DType::kF32, DType::kU32, "v1");
//     // "ember_u32_of_f32(v1)"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_CONVERSIONS_H_
#define EMBER_JIT_C_LIKE_CONVERSIONS_H_

#include <optional>
#include <string>

#include "base/dtype.h"
#include "jit/c_like/language.h"

namespace ember::jit::c_like {

// Returns the cast of `value` as an expression; nullopt for a cast that
// legalisation replaces.
std::optional<std::string> Cast(const Language& language, DType from, DType to,
                                bool is_raw, const std::string& value);

// Returns an expression that reinterprets the value's bits as another type of
// the same size.
std::string Bitcast(const Language& language, DType from, DType to,
                    const std::string& value);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_CONVERSIONS_H_

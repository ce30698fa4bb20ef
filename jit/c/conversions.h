// Emits casts and bitcasts that legalisation leaves as expressions of C, one to
// one.
//
//   Cast(DType::kF32, DType::kI32, true, "v1");    // "(int32_t)v1"
//   Bitcast(DType::kF32, DType::kU32, "v1");       // "ember_u32_of_f32(v1)"
//
// Names that begin with "ember_" are functions of jit/c/prelude.h. Thread-safe.
#ifndef EMBER_JIT_C_CONVERSIONS_H_
#define EMBER_JIT_C_CONVERSIONS_H_

#include <optional>
#include <string>

#include "base/dtype.h"

namespace ember::jit::c {

// Returns the cast as an expression of C; nothing for a cast that legalisation
// replaces.
std::optional<std::string> Cast(DType from, DType to, bool is_raw,
                                const std::string& value);

// Returns the bits of the value as another type. Both types have the same size.
std::string Bitcast(DType from, DType to, const std::string& value);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_CONVERSIONS_H_

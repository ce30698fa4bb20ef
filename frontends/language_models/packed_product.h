// Products with weights of language models.
//
//   Tensor y = TimesRows(x, w);        // x[…, columns] times w[rows, columns]ᵀ
//
// For some formats activations are quantized, too, and products are computed
// with integers, as llama.cpp does (ops::BlockedProduct):
//
//   format   codes as they are in the file              activations
//   Q4_0     a byte has elements s and s + 16           blocks of 32
//   Q8_0     i8                                         blocks of 32
//   Q4_K     a byte has elements s and s + 32 of 64     groups of 32
//
// The bytes of a file have scales and codes in turn. Here they become constants
// of their own, whose rows kernels can read in vectors. They have the bytes of
// the file, except for the scales of Q4_K: 6 bits times an f16 become an f32,
// so 144 bytes become 192. Other formats are multiplied as floats (weight.h).
//
// Errors stay in the graph builder. Does not own; not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_PACKED_PRODUCT_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_PACKED_PRODUCT_H_

#include <optional>

#include "frontends/language_models/weight.h"
#include "frontends/ops/blocked_product.h"

namespace ember::language_models {

// Returns x[…, columns] times the transpose of w[rows, columns]: […, rows].
Tensor TimesRows(Tensor x, const Weight& w);

// Returns the weight's constants for integer products. Returns nullopt if its
// format is not in the table above, if it does not have two dims, or if it is
// no constant.
std::optional<ops::BlockedWeight> PackForProducts(const Weight& w);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_PACKED_PRODUCT_H_

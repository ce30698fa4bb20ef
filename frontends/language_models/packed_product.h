// Products with weights of language models.
//
//   Tensor y = TimesRows(x, w);        // x[…, columns] times w[rows, columns]ᵀ
//
// For some formats activations are quantized, too, and products are computed
// with integers, as llama.cpp does (ops::BlockedProduct):
//
//   formats                        scales, and activations' scales, of
//   Q4_0, Q4_1, Q5_0, Q5_1, Q8_0   blocks of 32
//   Q4_K, Q5_K                     groups of 32
//   Q2_K, Q3_K, Q6_K               groups of 16
//
// The bytes of a file have scales and codes in turn. Here they become constants
// of their own, whose rows kernels can read in vectors: the lower and the upper
// bits of the codes (block_codes.h), and the scales as the file has them. So a
// kernel reads as many bytes as the file has; of formats whose scales have four
// or six bits up to 4% more, because here these have eight. Other formats are
// multiplied as floats (weight.h), and so are Q5_0 and Q5_1 with a number of
// columns that is no multiple of 128.
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

// Returns the weight's constants for integer products. Returns nullopt if the
// weight is multiplied as floats, if it does not have two dims, or if it is no
// constant.
std::optional<ops::BlockedWeight> PackForProducts(const Weight& w);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_PACKED_PRODUCT_H_

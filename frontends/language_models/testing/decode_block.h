// Decodes blocks of packed weights one element at a time, after the formats'
// published definitions. Tests compare the tensor expressions of weight.h with
// it.
//
//   std::vector<float> elements = DecodeBlocks(BlockFormat::kF16, bytes);
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_TESTING_DECODE_BLOCK_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_TESTING_DECODE_BLOCK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontends/language_models/block_formats.h"

namespace ember::language_models {

// `bytes` are whole blocks.
std::vector<float> DecodeBlocks(BlockFormat format,
                                std::span<const uint8_t> bytes);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_TESTING_DECODE_BLOCK_H_

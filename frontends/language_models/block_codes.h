// Reads a block of a quantized weight: its codes, and the scales and minima of
// its groups.
//
//   const BlockLayout* layout = LayoutOf(BlockFormat::kQ6_K);
//   BlockCodes numbers = {};
//   layout->read(bytes, numbers);
//
// An element is
//
//   factor * scales[e / g] * (codes[e] - zero) - offset * minima[e / g]
//
// where g is the number of elements of a group (BlockLayout). Formats without
// integer scales have one group, whose scale is 1.
//
// Pure functions. Source of the layouts: ggml-common.h of ggml.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_CODES_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_CODES_H_

#include <array>
#include <cstdint>
#include <span>

#include "frontends/language_models/block_formats.h"

namespace ember::language_models {

struct BlockCodes {
  // Codes without a sign, one for each element. If BlockLayout::codes_at is 0
  // or more, they are left 0: the caller copies the block's bytes instead.
  std::array<uint8_t, 256> codes;
  std::array<int8_t, 16> scales, minima;
  uint16_t factor, offset;  // f16
};

struct BlockLayout {
  BlockFormat format;
  int group;  // number of elements of a group
  // Number of the lower and the upper bits of a code, which the format stores
  // in separate bytes. There may be no upper ones.
  int low_bits, high_bits;
  int zero;
  bool has_scales;  // true if a group has an integer scale
  bool has_minima;  // true if elements have an offset
  // Offset of the codes in the block, if the bytes from there to the end of the
  // block can be used as they are: a byte has the codes of elements s and s +
  // 16 of 32 (Q4_K: s and s + 32 of 64), or one code with a sign (Q8_0). -1:
  // the codes must be rearranged.
  int codes_at;
  // Reads the bytes of a block. `to` must be all zeros.
  void (*read)(std::span<const uint8_t> block, BlockCodes& to);
};

// Returns the layout of a format whose elements are whole numbers before they
// are scaled; nullptr for other formats, such as those with tables of values.
const BlockLayout* LayoutOf(BlockFormat format);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_CODES_H_

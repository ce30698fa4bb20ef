#include "frontends/language_models/block_codes.h"

#include <cstddef>
#include <cstring>

namespace ember::language_models {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint16_t kSignOfHalf = 0x8000;

uint16_t HalfAt(Bytes block, size_t at) {
  uint16_t bits = 0;
  std::memcpy(&bits, block.data() + at, sizeof(bits));
  return bits;
}

// The loops below have constant trip counts, so that compilers vectorize them:
// a model has billions of codes to unpack.

// Reads codes of 4 bits. Each run of kHalf bytes has the codes of kHalf
// elements in its lower nibbles, and those of the next kHalf elements in its
// upper nibbles.
template <size_t kHalf>
void ReadNibbles(Bytes bytes, BlockCodes& to) {
  for (size_t piece = 0; piece < bytes.size(); piece += kHalf) {
    const uint8_t* const from = bytes.data() + piece;
    uint8_t* const codes = to.codes.data() + 2 * piece;
    for (size_t i = 0; i < kHalf; ++i) codes[i] = from[i] & 15;
    for (size_t i = 0; i < kHalf; ++i) codes[kHalf + i] = from[i] >> 4;
  }
}

// Adds further bits to the codes, at bit `above`. Each byte holds kBits bits of
// 8 / kBits codes, which belong to elements that are 32 apart.
template <size_t kBits>
void AddDigits(Bytes bytes, unsigned above, BlockCodes& to) {
  constexpr size_t kStep = 32, kDigits = 8 / kBits;
  constexpr unsigned kMask = (1u << kBits) - 1;
  for (size_t piece = 0; piece < bytes.size(); piece += kStep) {
    const uint8_t* const from = bytes.data() + piece;
    for (size_t d = 0; d < kDigits; ++d) {
      uint8_t* const codes = to.codes.data() + piece * kDigits + d * kStep;
      for (size_t i = 0; i < kStep; ++i) {
        const unsigned digit = from[i] >> (d * kBits) & kMask;
        codes[i] = static_cast<uint8_t>(codes[i] | digit << above);
      }
    }
  }
}

// Adds the fifth bits of 32 codes. A byte has the bits of 8 adjacent elements.
void AddFifthBits(Bytes bytes, BlockCodes& to) {
  for (size_t e = 0; e < 32; ++e) {
    const unsigned bit = bytes[e / 8] >> (e % 8) & 1;
    to.codes[e] = static_cast<uint8_t>(to.codes[e] | bit << 4);
  }
}

// Reads 8 scales and minima of 6 bits each, which Q4_K and Q5_K pack into 12
// bytes.
void ReadSixBits(Bytes q, BlockCodes& to) {
  for (size_t g = 0; g < 8; ++g) {
    if (g < 4) {
      to.scales[g] = static_cast<int8_t>(q[g] & 63);
      to.minima[g] = static_cast<int8_t>(q[g + 4] & 63);
    } else {
      to.scales[g] =
          static_cast<int8_t>((q[g + 4] & 15) | (q[g - 4] >> 6) << 4);
      to.minima[g] = static_cast<int8_t>((q[g + 4] >> 4) | (q[g] >> 6) << 4);
    }
  }
}

void ReadFactor(Bytes b, BlockCodes& to) { to.factor = HalfAt(b, 0); }

// Q4_1 and Q5_1 add their minimum, but BlockCodes has an offset that is
// subtracted, so the sign of the f16 is inverted.
void ReadQ4_1(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 0);
  to.offset = HalfAt(b, 2) ^ kSignOfHalf;
}

void ReadQ5_0(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 0);
  ReadNibbles<16>(b.subspan(6), to);
  AddFifthBits(b.subspan(2, 4), to);
}

void ReadQ5_1(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 0);
  to.offset = HalfAt(b, 2) ^ kSignOfHalf;
  ReadNibbles<16>(b.subspan(8), to);
  AddFifthBits(b.subspan(4, 4), to);
}

void ReadQ2_K(Bytes b, BlockCodes& to) {
  for (size_t g = 0; g < 16; ++g) {
    to.scales[g] = static_cast<int8_t>(b[g] & 15);
    to.minima[g] = static_cast<int8_t>(b[g] >> 4);
  }
  to.factor = HalfAt(b, 80);
  to.offset = HalfAt(b, 82);
  AddDigits<2>(b.subspan(16, 64), 0, to);
}

void ReadQ3_K(Bytes b, BlockCodes& to) {
  for (size_t g = 0; g < 16; ++g) {
    const int low = g < 8 ? b[96 + g] & 15 : b[96 + g - 8] >> 4;
    const int high = b[104 + g % 4] >> (2 * (g / 4)) & 3;
    to.scales[g] = static_cast<int8_t>((low | high << 4) - 32);
  }
  to.factor = HalfAt(b, 108);
  AddDigits<2>(b.subspan(32, 64), 0, to);
  AddDigits<1>(b.subspan(0, 32), 2, to);
}

void ReadQ4_K(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 0);
  to.offset = HalfAt(b, 2);
  ReadSixBits(b.subspan(4, 12), to);
}

void ReadQ5_K(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 0);
  to.offset = HalfAt(b, 2);
  ReadSixBits(b.subspan(4, 12), to);
  ReadNibbles<32>(b.subspan(48), to);
  AddDigits<1>(b.subspan(16, 32), 4, to);
}

void ReadQ6_K(Bytes b, BlockCodes& to) {
  to.factor = HalfAt(b, 208);
  std::memcpy(to.scales.data(), b.data() + 192, 16);
  ReadNibbles<64>(b.first(128), to);
  AddDigits<2>(b.subspan(128, 64), 4, to);
}

constexpr BlockLayout kLayouts[] = {
    {BlockFormat::kQ4_0, 32, 4, 0, 8, false, false, 2, ReadFactor},
    {BlockFormat::kQ4_1, 32, 4, 0, 0, false, true, 4, ReadQ4_1},
    {BlockFormat::kQ5_0, 32, 4, 1, 16, false, false, -1, ReadQ5_0},
    {BlockFormat::kQ5_1, 32, 4, 1, 0, false, true, -1, ReadQ5_1},
    {BlockFormat::kQ8_0, 32, 8, 0, 0, false, false, 2, ReadFactor},
    {BlockFormat::kQ2_K, 16, 2, 0, 0, true, true, -1, ReadQ2_K},
    {BlockFormat::kQ3_K, 16, 2, 1, 4, true, false, -1, ReadQ3_K},
    {BlockFormat::kQ4_K, 32, 4, 0, 0, true, true, 16, ReadQ4_K},
    {BlockFormat::kQ5_K, 32, 4, 1, 0, true, true, -1, ReadQ5_K},
    {BlockFormat::kQ6_K, 16, 4, 2, 32, true, false, -1, ReadQ6_K},
};

}  // namespace

const BlockLayout* LayoutOf(BlockFormat format) {
  for (const BlockLayout& layout : kLayouts)
    if (layout.format == format) return &layout;
  return nullptr;
}

}  // namespace ember::language_models

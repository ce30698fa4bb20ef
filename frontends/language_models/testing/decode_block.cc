#include "frontends/language_models/testing/decode_block.h"

#include <bit>
#include <cmath>

#include "base/dtype.h"

namespace ember::language_models {
namespace {

float Half(const uint8_t* p) {
  return ToFloat(Float16{static_cast<uint16_t>(p[0] | p[1] << 8)});
}

void DecodeF32(const uint8_t* b, float* y) {
  y[0] = std::bit_cast<float>(
      static_cast<uint32_t>(b[0]) | static_cast<uint32_t>(b[1]) << 8 |
      static_cast<uint32_t>(b[2]) << 16 | static_cast<uint32_t>(b[3]) << 24);
}
void DecodeF16(const uint8_t* b, float* y) { y[0] = Half(b); }
void DecodeBF16(const uint8_t* b, float* y) {
  y[0] = ToFloat(BFloat16{static_cast<uint16_t>(b[0] | b[1] << 8)});
}

void DecodeQ4_0(const uint8_t* b, float* y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>((b[2 + j] & 15) - 8) * Half(b);
    y[j + 16] = static_cast<float>((b[2 + j] >> 4) - 8) * Half(b);
  }
}

void DecodeQ4_1(const uint8_t* b, float* y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = static_cast<float>(b[4 + j] & 15) * Half(b) + Half(b + 2);
    y[j + 16] = static_cast<float>(b[4 + j] >> 4) * Half(b) + Half(b + 2);
  }
}

// Returns the code of an element of the formats with a fifth bit.
int FiveBits(const uint8_t* high, const uint8_t* low, int element) {
  const int j = element % 16;
  const int nibble = element < 16 ? low[j] & 15 : low[j] >> 4;
  return nibble | (high[element / 8] >> element % 8 & 1) << 4;
}

void DecodeQ5_0(const uint8_t* b, float* y) {
  for (int e = 0; e < 32; ++e)
    y[e] = static_cast<float>(FiveBits(b + 2, b + 6, e) - 16) * Half(b);
}

void DecodeQ5_1(const uint8_t* b, float* y) {
  for (int e = 0; e < 32; ++e) {
    y[e] =
        static_cast<float>(FiveBits(b + 4, b + 8, e)) * Half(b) + Half(b + 2);
  }
}

void DecodeQ8_0(const uint8_t* b, float* y) {
  for (int e = 0; e < 32; ++e)
    y[e] = static_cast<float>(static_cast<int8_t>(b[2 + e])) * Half(b);
}

void DecodeQ2_K(const uint8_t* b, float* y) {
  int group = 0;
  for (int n = 0; n < 2; ++n) {
    for (int shift = 0; shift < 8; shift += 2) {
      for (int part = 0; part < 2; ++part, ++group) {
        const float scale = Half(b + 80) * static_cast<float>(b[group] & 15);
        const float least = Half(b + 82) * static_cast<float>(b[group] >> 4);
        for (int l = 0; l < 16; ++l) {
          const int code = b[16 + 32 * n + 16 * part + l] >> shift & 3;
          *y++ = scale * static_cast<float>(code) - least;
        }
      }
    }
  }
}

void DecodeQ3_K(const uint8_t* b, float* y) {
  int scales[16];
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? b[96 + i] & 15 : b[96 + i - 8] >> 4;
    const int high = b[104 + i % 4] >> 2 * (i / 4) & 3;
    scales[i] = (low | high << 4) - 32;
  }
  for (int e = 0; e < 256; ++e) {
    const int n = e / 128;
    const int j = e % 128 / 32;
    const int l = e % 32;
    int code = b[32 + 32 * n + l] >> 2 * j & 3;
    if ((b[l] >> (4 * n + j) & 1) == 0) code -= 4;
    y[e] = Half(b + 108) * static_cast<float>(scales[e / 16]) *
           static_cast<float>(code);
  }
}

struct SixBits {
  int scale, least;
};

// Reads scale and minimum of a group from the 12 bytes of Q4_K and Q5_K.
SixBits ReadSixBits(const uint8_t* q, int group) {
  if (group < 4) return {q[group] & 63, q[group + 4] & 63};
  return {(q[group + 4] & 15) | (q[group - 4] >> 6) << 4,
          (q[group + 4] >> 4) | (q[group] >> 6) << 4};
}

void DecodeQ4_K(const uint8_t* b, float* y) {
  for (int e = 0; e < 256; ++e) {
    const SixBits s = ReadSixBits(b + 4, e / 32);
    const uint8_t byte = b[16 + e / 64 * 32 + e % 32];
    const int code = e % 64 < 32 ? byte & 15 : byte >> 4;
    y[e] = Half(b) * static_cast<float>(s.scale) * static_cast<float>(code) -
           Half(b + 2) * static_cast<float>(s.least);
  }
}

void DecodeQ5_K(const uint8_t* b, float* y) {
  for (int e = 0; e < 256; ++e) {
    const SixBits s = ReadSixBits(b + 4, e / 32);
    const uint8_t byte = b[48 + e / 64 * 32 + e % 32];
    int code = e % 64 < 32 ? byte & 15 : byte >> 4;
    if ((b[16 + e % 32] >> e / 32 & 1) != 0) code += 16;
    y[e] = Half(b) * static_cast<float>(s.scale) * static_cast<float>(code) -
           Half(b + 2) * static_cast<float>(s.least);
  }
}

void DecodeQ6_K(const uint8_t* b, float* y) {
  for (int n = 0; n < 2; ++n) {
    const uint8_t* low = b + 64 * n;
    const uint8_t* high = b + 128 + 32 * n;
    const uint8_t* scales = b + 192 + 8 * n;
    for (int l = 0; l < 32; ++l) {
      const int codes[4] = {(low[l] & 15) | (high[l] & 3) << 4,
                            (low[l + 32] & 15) | (high[l] >> 2 & 3) << 4,
                            (low[l] >> 4) | (high[l] >> 4 & 3) << 4,
                            (low[l + 32] >> 4) | (high[l] >> 6 & 3) << 4};
      for (int k = 0; k < 4; ++k) {
        const auto scale = static_cast<int8_t>(scales[l / 16 + 2 * k]);
        y[128 * n + 32 * k + l] = Half(b + 208) * static_cast<float>(scale) *
                                  static_cast<float>(codes[k] - 32);
      }
    }
  }
}

constexpr int kIq4Nl[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                            1,    13,   25,  38,  53,  69,  89,  113};

void DecodeIQ4_NL(const uint8_t* b, float* y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = Half(b) * static_cast<float>(kIq4Nl[b[2 + j] & 15]);
    y[j + 16] = Half(b) * static_cast<float>(kIq4Nl[b[2 + j] >> 4]);
  }
}

void DecodeIQ4_XS(const uint8_t* b, float* y) {
  const int high = b[2] | b[3] << 8;
  for (int group = 0; group < 8; ++group) {
    const int scale = (b[4 + group / 2] >> 4 * (group % 2) & 15) |
                      (high >> 2 * group & 3) << 4;
    const float d = Half(b) * static_cast<float>(scale - 32);
    const uint8_t* codes = b + 8 + 16 * group;
    for (int j = 0; j < 16; ++j) {
      y[32 * group + j] = d * static_cast<float>(kIq4Nl[codes[j] & 15]);
      y[32 * group + j + 16] = d * static_cast<float>(kIq4Nl[codes[j] >> 4]);
    }
  }
}

void DecodeMXFP4(const uint8_t* b, float* y) {
  constexpr float kValues[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const auto value = [&kValues](int code) {
    return code < 8 ? kValues[code] : -kValues[code - 8];
  };
  const auto scale = static_cast<float>(std::ldexp(1.0, b[0] - 127));
  for (int j = 0; j < 16; ++j) {
    y[j] = value(b[1 + j] & 15) * scale;
    y[j + 16] = value(b[1 + j] >> 4) * scale;
  }
}

}  // namespace

std::vector<float> DecodeBlocks(BlockFormat format,
                                std::span<const uint8_t> bytes) {
  const BlockFormatInfo& info = InfoOf(format);
  const size_t blocks = bytes.size() / static_cast<size_t>(info.bytes);
  std::vector<float> elements(blocks * static_cast<size_t>(info.elements));
  for (size_t i = 0; i < blocks; ++i) {
    const uint8_t* block = bytes.data() + i * static_cast<size_t>(info.bytes);
    float* out = elements.data() + i * static_cast<size_t>(info.elements);
    switch (format) {
#define EMBER_ROW(name, ggml_type, size, count) \
  case BlockFormat::k##name:                    \
    Decode##name(block, out);                   \
    break;
      EMBER_FOR_EACH_BLOCK_FORMAT(EMBER_ROW)
#undef EMBER_ROW
    }
  }
  return elements;
}

}  // namespace ember::language_models

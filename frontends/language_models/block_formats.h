// The table of the formats in which files store the elements of a weight: plain
// floats, and blocks of packed integers with scales.
//
//   const std::optional<BlockFormat> format = BlockFormatOfGgml(2);  // Q4_0
//   InfoOf(*format).bytes == 18, InfoOf(*format).elements == 32
//   ByteSize(*format, dims) == 4096 * 64 / 32 * 18   // dims = {4096, 64}
//
// A weight's last dim is cut into blocks of `elements`; each block has `bytes`.
// unpack.cc has the meaning of each format. Sizes are checked, as they come
// from files. Thread-safe.
//
// Source: the struct definitions of ggml (ggml-common.h), whose numbers of
// types GGUF files contain.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_FORMATS_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_FORMATS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ember::language_models {

// Columns: name, number of the type in ggml, bytes of a block, elements of a
// block.
// clang-format off
#define EMBER_FOR_EACH_BLOCK_FORMAT(row) \
  row(F32, 0, 4, 1) \
  row(F16, 1, 2, 1) \
  row(BF16, 30, 2, 1) \
  row(Q4_0, 2, 18, 32) \
  row(Q4_1, 3, 20, 32) \
  row(Q5_0, 6, 22, 32) \
  row(Q5_1, 7, 24, 32) \
  row(Q8_0, 8, 34, 32) \
  row(Q2_K, 10, 84, 256) \
  row(Q3_K, 11, 110, 256) \
  row(Q4_K, 12, 144, 256) \
  row(Q5_K, 13, 176, 256) \
  row(Q6_K, 14, 210, 256) \
  row(IQ4_NL, 20, 18, 32) \
  row(IQ4_XS, 23, 136, 256) \
  row(MXFP4, 39, 17, 32)
// clang-format on

enum class BlockFormat : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_BLOCK_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};

struct BlockFormatInfo {
  std::string_view name;
  uint32_t ggml_type;
  int64_t bytes, elements;
};

inline constexpr BlockFormatInfo kBlockFormats[] = {
#define EMBER_ROW(name, ggml_type, bytes, elements) \
  {#name, ggml_type, bytes, elements},
    EMBER_FOR_EACH_BLOCK_FORMAT(EMBER_ROW)
#undef EMBER_ROW
};

constexpr const BlockFormatInfo& InfoOf(BlockFormat format) {
  return kBlockFormats[static_cast<size_t>(format)];
}

// Returns the format with this number in ggml; nullopt if there is no row.
std::optional<BlockFormat> BlockFormatOfGgml(uint32_t ggml_type);

// Returns the bytes of a weight with these dims, outermost first. Returns
// nullopt if a dim is below 1, the last dim is no multiple of a block's
// elements, or the number of bytes does not fit 63 bits.
std::optional<int64_t> ByteSize(BlockFormat format,
                                std::span<const int64_t> dims);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_BLOCK_FORMATS_H_

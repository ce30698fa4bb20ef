#include "frontends/language_models/block_formats.h"

#include <iterator>

#include "base/checked_math.h"

namespace ember::language_models {

std::optional<BlockFormat> BlockFormatOfGgml(uint32_t ggml_type) {
  for (size_t i = 0; i < std::size(kBlockFormats); ++i)
    if (kBlockFormats[i].ggml_type == ggml_type)
      return static_cast<BlockFormat>(i);
  return std::nullopt;
}

std::optional<int64_t> ByteSize(BlockFormat format,
                                std::span<const int64_t> dims) {
  const BlockFormatInfo& info = InfoOf(format);
  if (dims.empty()) {
    if (info.elements != 1) return std::nullopt;
    return info.bytes;
  }
  if (dims.back() < 1 || dims.back() % info.elements != 0) return std::nullopt;
  std::optional<int64_t> size =
      CheckedMultiply(dims.back() / info.elements, info.bytes);
  for (const int64_t dim : dims.first(dims.size() - 1)) {
    if (dim < 1 || !size) return std::nullopt;
    size = CheckedMultiply(*size, dim);
  }
  return size;
}

}  // namespace ember::language_models

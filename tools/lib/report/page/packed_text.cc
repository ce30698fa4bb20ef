#include "tools/lib/report/page/packed_text.h"

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"
#include "compiler/graph/text/base64.h"

namespace ember::tools {

std::string PackedText(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::vector<uint8_t> bytes(size);
  const int outcome = compress2(bytes.data(), &size,
                                reinterpret_cast<const Bytef*>(text.data()),
                                text.size(), Z_BEST_COMPRESSION);
  EMBER_CHECK(outcome == Z_OK) << "zlib: " << outcome;
  bytes.resize(size);
  return graph::EncodeBase64(bytes);
}

std::string UnpackedText(std::string_view packed) {
  constexpr uLongf kMaxBytes = 16 << 20;
  const std::optional<std::vector<uint8_t>> bytes = graph::DecodeBase64(packed);
  if (!bytes) return "";
  std::string text(kMaxBytes, '\0');
  uLongf size = kMaxBytes;
  const int outcome = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                 bytes->data(), bytes->size());
  text.resize(outcome == Z_OK ? size : 0);
  return text;
}

}  // namespace ember::tools

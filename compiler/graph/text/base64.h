// Base64 (RFC 4648, with padding): bytes of constants in text.
//
//   EncodeBase64({1, 2, 3}) == "AQID"
#ifndef EMBER_COMPILER_GRAPH_TEXT_BASE64_H_
#define EMBER_COMPILER_GRAPH_TEXT_BASE64_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ember::graph {

std::string EncodeBase64(std::span<const uint8_t> bytes);
// Returns the bytes of a text in base64; nullopt if the text is not base64.
std::optional<std::vector<uint8_t>> DecodeBase64(std::string_view text);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_TEXT_BASE64_H_

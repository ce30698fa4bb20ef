// Packs a text for a page: zlib's format (RFC 1950) in base64. A browser's
// DecompressionStream("deflate") reads the bytes.
//
//   std::string packed = PackedText("loops @conv …");
//   UnpackedText(packed) == "loops @conv …"
#ifndef EMBER_TOOLS_LIB_REPORT_PAGE_PACKED_TEXT_H_
#define EMBER_TOOLS_LIB_REPORT_PAGE_PACKED_TEXT_H_

#include <string>
#include <string_view>

namespace ember::tools {

std::string PackedText(std::string_view text);
// Unpacks a text of at most 16 MB; returns an empty text if `packed` is not
// valid. Only tests use it.
std::string UnpackedText(std::string_view packed);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PAGE_PACKED_TEXT_H_

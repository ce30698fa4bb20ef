#include "tools/lib/cli/public_key.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "tools/lib/cli/paths.h"

namespace ember::tools {

std::string HexLine(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    line += kDigits[bytes[i] >> 4];
    line += kDigits[bytes[i] & 15];
  }
  return line + "\n";
}

StatusOr<std::vector<uint8_t>> ParseHexLine(std::string_view text,
                                            size_t count) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  std::vector<uint8_t> bytes(count);
  bool is_good = text.size() == 2 * count;
  for (size_t i = 0; is_good && i < count; ++i) {
    const char* const at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, bytes[i], 16);
    is_good = error == std::errc() && end == at + 2;
  }
  if (is_good) return bytes;
  return InvalidArgumentError("expected a line of " +
                              std::to_string(2 * count) +
                              " hexadecimal digits, found another");
}

StatusOr<Ed25519Key> ReadPublicKey(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(path)));
  Ed25519Key key;
  const auto bytes = ParseHexLine(text, key.size());
  if (!bytes.ok()) return bytes.status().WithContext(path);
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return key;
}

}  // namespace ember::tools

#include "jit/wgsl/testing/runner_texts.h"

#include <cstddef>

#include "base/concat.h"

namespace ember::jit::wgsl {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string Hex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Status FromHex(std::string_view text, std::span<uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) {
    return InternalError(
        Concat({"expected ", bytes.size(), " bytes from the runner, found ",
                text.size() / 2}));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(16 * kDigits.find(text[2 * i]) +
                                    kDigits.find(text[2 * i + 1]));
  }
  return OkStatus();
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '\n') {
      quoted += "\\n";
      continue;
    }
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace ember::jit::wgsl

#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

struct Lead {
  int trailing = -1;  // number of bytes after the first one; -1: no character
                      // begins with this byte
  // allowed range of the second byte
  uint8_t second_low = 0x80, second_high = 0xbf;
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {0};
  if (byte < 0xc2) return {-1};
  if (byte < 0xe0) return {1};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte == 0xed) return {2, 0x80, 0x9f};
  if (byte < 0xf0) return {2};
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte < 0xf4) return {3};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {-1};
}

}  // namespace

Utf8Char Utf8At(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) return {first, 1, true, false};
  const Lead lead = LeadOf(first);
  if (lead.trailing < 0) return {kReplacementCharacter, 1, false, false};
  uint32_t code = first & (0x3f >> lead.trailing);
  for (int i = 1; i <= lead.trailing; ++i) {
    if (at + i >= text.size()) {
      return {kReplacementCharacter, static_cast<uint32_t>(i), false, true};
    }
    const auto byte = static_cast<uint8_t>(text[at + i]);
    const bool continues =
        i == 1 ? byte >= lead.second_low && byte <= lead.second_high
               : (byte & 0xc0) == 0x80;
    if (!continues) {
      return {kReplacementCharacter, static_cast<uint32_t>(i), false, false};
    }
    code = code << 6 | (byte & 0x3f);
  }
  return {code, static_cast<uint32_t>(lead.trailing + 1), true, false};
}

void AppendUtf8(uint32_t code, std::string* text) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    code = kReplacementCharacter;
  }
  if (code < 0x80) {
    *text += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    *text += static_cast<char>(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *text += static_cast<char>(0xe0 | code >> 12);
    } else {
      *text += static_cast<char>(0xf0 | code >> 18);
      *text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    }
    *text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  *text += static_cast<char>(0x80 | (code & 0x3f));
}

std::string ToValidUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    if (c.is_valid) {
      result.append(text, at, c.size);
    } else {
      AppendUtf8(kReplacementCharacter, &result);
    }
    at += c.size;
  }
  return result;
}

size_t CutUtf8Size(std::string_view text) {
  for (size_t size = 1; size <= 3 && size <= text.size(); ++size) {
    const size_t at = text.size() - size;
    if ((static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) continue;
    const Utf8Char c = Utf8At(text, at);
    return c.is_cut && c.size == size ? size : 0;
  }
  return 0;
}

}  // namespace ember::llm

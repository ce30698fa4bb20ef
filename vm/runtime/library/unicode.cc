#include "vm/runtime/library/unicode.h"

#include <locale.h>
#include <wctype.h>

namespace ember::vm {
namespace {

struct Character {
  uint32_t code = 0;
  int length = 0;  // number of bytes of the character; 0 for invalid UTF-8
};

Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(text[i]));
  };
  if (text.empty()) return {};
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 ||
      text.size() < static_cast<size_t>(length)) {
    return {};
  }
  uint32_t code = first & (0xffu >> (length + 1));
  for (int i = 1; i < length; ++i) {
    const uint32_t next = byte(static_cast<size_t>(i));
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  // Smallest code point that needs a character of each length in bytes. A
  // smaller one is an overlong form, which is refused, as surrogates and code
  // points that are too large are.
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || (code >= 0xd800 && code < 0xe000) ||
      code > 0x10ffff) {
    return {};
  }
  return {code, length};
}

void Encode(uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kFirst[following] | code >> (6 * following));
  for (int i = following - 1; i >= 0; --i)
    text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
}

uint32_t ChangeAscii(uint32_t code, Case to) {
  if (to == Case::kLower)
    return code >= 'A' && code <= 'Z' ? code - 'A' + 'a' : code;
  return code >= 'a' && code <= 'z' ? code - 'a' + 'A' : code;
}

// Returns a locale of the C library for Unicode. Returns null if there is none;
// then the case of ASCII letters only is changed.
locale_t UnicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

}  // namespace

std::string ChangeCase(std::string_view text, Case to) {
  std::string changed;
  changed.reserve(text.size());
  while (!text.empty()) {
    const Character character = Decode(text);
    if (character.length == 0) {
      changed += text[0];
      text.remove_prefix(1);
      continue;
    }
    uint32_t code = character.code;
    if (code < 0x80 || UnicodeLocale() == nullptr) {
      code = ChangeAscii(code, to);
    } else {
      const wint_t wide = static_cast<wint_t>(code);
      code = static_cast<uint32_t>(to == Case::kLower
                                       ? towlower_l(wide, UnicodeLocale())
                                       : towupper_l(wide, UnicodeLocale()));
    }
    Encode(code, changed);
    text.remove_prefix(static_cast<size_t>(character.length));
  }
  return changed;
}

int SpaceLength(std::string_view text) {
  const Character character = Decode(text);
  const uint32_t code = character.code;
  const bool is_space =
      (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) ||
      code == 0x85 || code == 0xa0 || code == 0x1680 ||
      (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
      code == 0x202f || code == 0x205f || code == 0x3000;
  return is_space ? character.length : 0;
}

int CharacterLength(std::string_view text) {
  const Character character = Decode(text);
  return character.length == 0 ? 1 : character.length;
}

}  // namespace ember::vm

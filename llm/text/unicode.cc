#include "llm/text/unicode.h"

#include <utf8proc.h>

#include <cstdlib>

#include "base/check.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

utf8proc_category_t Category(uint32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool IsBetween(utf8proc_category_t category, utf8proc_category_t first,
               utf8proc_category_t last) {
  return category >= first && category <= last;
}

template <typename Map>
std::string Mapped(std::string_view text, const Map& map) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    at += c.size;
    map(c.code, &result);
  }
  return result;
}

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

std::string Normalized(std::string_view text, NormalForm form) {
  if (IsAscii(text)) return std::string(text);
  int options = UTF8PROC_STABLE;
  options |= form == NormalForm::kNfc || form == NormalForm::kNfkc
                 ? UTF8PROC_COMPOSE
                 : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kNfkc || form == NormalForm::kNfkd) {
    options |= UTF8PROC_COMPAT;
  }
  const std::string valid = ToValidUtf8(text);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                   static_cast<utf8proc_ssize_t>(valid.size()), &mapped,
                   static_cast<utf8proc_option_t>(options));
  EMBER_CHECK(size >= 0) << "utf8proc_map of valid UTF-8 failed: " << size;
  std::string result(reinterpret_cast<const char*>(mapped),
                     static_cast<size_t>(size));
  std::free(mapped);
  return result;
}

uint32_t ToLower(uint32_t code) {
  return static_cast<uint32_t>(
      utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

uint32_t ToUpper(uint32_t code) {
  return static_cast<uint32_t>(
      utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

std::string Lowercase(std::string_view text) {
  return Mapped(text, [](uint32_t code, std::string* result) {
    // U+0130 is the only character whose lower case has two characters.
    if (code == 0x130) {
      *result += "i\u0307";
    } else {
      AppendUtf8(ToLower(code), result);
    }
  });
}

std::string Uppercase(std::string_view text) {
  return Mapped(text, [](uint32_t code, std::string* result) {
    AppendUtf8(ToUpper(code), result);
  });
}

bool IsWhitespace(uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
  return code == 0x85 ||
         IsBetween(Category(code), UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

bool IsPunctuation(uint32_t code) {
  if (code < 0x80) {
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
  }
  return IsBetween(Category(code), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool IsControl(uint32_t code) {
  const utf8proc_category_t category = Category(code);
  return category == UTF8PROC_CATEGORY_CN ||
         IsBetween(category, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool IsNonspacingMark(uint32_t code) {
  return Category(code) == UTF8PROC_CATEGORY_MN;
}

bool IsLetter(uint32_t code) {
  return IsBetween(Category(code), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool IsAlphanumeric(uint32_t code) {
  return IsLetter(code) ||
         IsBetween(Category(code), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool IsUpper(uint32_t code) { return Category(code) == UTF8PROC_CATEGORY_LU; }

bool IsLower(uint32_t code) { return Category(code) == UTF8PROC_CATEGORY_LL; }

bool IsChinese(uint32_t code) {
  static constexpr struct {
    uint32_t first, last;
  } kBlocks[] = {
      {0x4e00, 0x9fff},
      {0x3400, 0x4dbf},
      {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f},
      {0x2b740, 0x2b81f},
      // In BERT's own code this block begins at U+2B820. The tokenizers
      // library, with which published vocabularies are used, lets it begin at
      // U+2B920.
      {0x2b920, 0x2ceaf},
      {0xf900, 0xfaff},
      {0x2f800, 0x2fa1f},
  };
  for (const auto& block : kBlocks) {
    if (code >= block.first && code <= block.last) return true;
  }
  return false;
}

}  // namespace ember::llm

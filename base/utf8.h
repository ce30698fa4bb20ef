// True if bytes are UTF-8, by the table of well-formed sequences: no overlong
// forms, no surrogates, nothing above U+10FFFF.
//
//   if (!IsUtf8(text)) return InvalidArgumentError("…: expected UTF-8");
//
// Thread-safe. Source: the Unicode Standard, table 3-7.
#ifndef EMBER_BASE_UTF8_H_
#define EMBER_BASE_UTF8_H_

#include <string_view>

namespace ember {

bool IsUtf8(std::string_view text);

}  // namespace ember

#endif  // EMBER_BASE_UTF8_H_

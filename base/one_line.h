// Escapes text that comes from a file, so that a message with it stays on one
// line: names in models may contain line feeds and terminal escapes.
//
//   OnOneLine("a\nb");   // "a\x0ab"
//
// Thread-safe.
#ifndef EMBER_BASE_ONE_LINE_H_
#define EMBER_BASE_ONE_LINE_H_

#include <string>
#include <string_view>

namespace ember {

// Returns the text with control characters written as \xNN.
std::string OnOneLine(std::string_view text);

}  // namespace ember

#endif  // EMBER_BASE_ONE_LINE_H_

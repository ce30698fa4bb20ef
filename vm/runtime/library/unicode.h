// Changes the case of UTF-8 texts, and finds white space in them. Invalid bytes
// stay unchanged and are not white space.
//
//   ChangeCase("Ärger", Case::kUpper) == "ÄRGER"
//
// Characters are changed one by one, so "ß" stays as it is. Thread-safe.
#ifndef EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_
#define EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::vm {

enum class Case : uint8_t { kLower, kUpper };
std::string ChangeCase(std::string_view text, Case to);

// Returns the number of bytes of the white space character with which the text
// begins; 0 if it begins with another character.
int SpaceLength(std::string_view text);
// Returns the number of bytes of the text's first character; 1 if it is
// invalid.
int CharacterLength(std::string_view text);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_

// Change of case, and tests for white space, in UTF-8. Invalid bytes stay as
// they are and are no white space.
//
//   ChangeCase("Ärger", Case::kUpper) == "ÄRGER"
//
// Characters change one by one ("ß" has no upper case). Thread-safe.
#ifndef EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_
#define EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::vm {

enum class Case : uint8_t { kLower, kUpper };
std::string ChangeCase(std::string_view text, Case to);

// Returns the bytes of the white space character at the beginning of the text,
// or 0 if there is none.
int SpaceLength(std::string_view text);
// Returns the bytes of the text's first character, or 1 if it is invalid.
int CharacterLength(std::string_view text);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_UNICODE_H_

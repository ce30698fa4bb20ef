// Change of case, and what is white space, in UTF-8. Bytes that are not UTF-8
// stay as they are and are no white space.
//
//   ChangeCase("Ärger", Case::kUpper) == "ÄRGER"
//
// Characters change one by one ("ß" has no upper case). Thread-safe.
#ifndef EMBER_VM_RUNTIME_UNICODE_H_
#define EMBER_VM_RUNTIME_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::vm {

enum class Case : uint8_t { kLower, kUpper };
std::string ChangeCase(std::string_view text, Case to);

// The bytes of the white space character at the beginning of the text; 0: it
// begins with something else.
int SpaceLength(std::string_view text);
// The bytes of its first character, or 1.
int CharacterLength(std::string_view text);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_UNICODE_H_

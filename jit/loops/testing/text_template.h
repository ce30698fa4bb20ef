// Replaces parts of a text, for tests whose nests differ in types, sizes or
// statements.
//
//   Replaced("loops @f(%x: input T[W]) { ... }", {{"T[", "i8["}, {"W", "16"}})
//   == "loops @f(%x: input i8[16]) { ... }"
#ifndef EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_
#define EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_

#include <string>
#include <utility>
#include <vector>

namespace ember::loops {

// Returns the text with each occurrence of `from` replaced by `to`. Occurrences
// of `from` within an inserted `to` are not replaced.
std::string Replaced(std::string text, const std::string& from,
                     const std::string& to);
// Returns the text after several replacements, made one after the other in the
// order of the list.
std::string Replaced(
    std::string text,
    const std::vector<std::pair<std::string, std::string>>& all);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_

// Texts of nests that differ in types, sizes or statements, for tests.
//
//   Replaced("loops @f(%x: input T[W]) { ... }", {{"T[", "i8["}, {"W", "16"}})
//   == "loops @f(%x: input i8[16]) { ... }"
#ifndef EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_
#define EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_

#include <string>
#include <utility>
#include <vector>

namespace ember::loops {

// Returns the text with each `from` replaced by `to`. Does not search the
// replacements.
std::string Replaced(std::string text, const std::string& from,
                     const std::string& to);
// Returns the text after several replacements, done one after the other.
std::string Replaced(
    std::string text,
    const std::vector<std::pair<std::string, std::string>>& all);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_TEXT_TEMPLATE_H_

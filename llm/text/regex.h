// Regular expressions with Unicode properties and lookahead, for the splits of
// tokenizers.
//
//   EMBER_ASSIGN_OR_RETURN(const Regex regex, Regex::Compile("\\p{L}+"));
//   EMBER_RETURN_IF_ERROR(regex.ForEachMatch(
//       "ab 12 c", [](size_t begin, size_t end) { ... }));   // [0,2) [6,7)
//
// Patterns come from files of strangers: their size and nesting are limited
// when they are compiled, and the steps and memory of each match when they run.
// Backtracking that exceeds the limit is an error, not a hang. Patterns are
// interpreted, never compiled to machine code.
//
// Texts must be valid UTF-8. Move-only; a compiled pattern is thread-safe.
// Errors quote the pattern. Source: Debian's PCRE2.
#ifndef EMBER_LLM_TEXT_REGEX_H_
#define EMBER_LLM_TEXT_REGEX_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::llm {

class Regex {
 public:
  static StatusOr<Regex> Compile(std::string_view pattern);
  // Returns a pattern that matches exactly this text, with special characters
  // escaped.
  static std::string Quoted(std::string_view text);

  Regex(Regex&& other) noexcept;
  Regex& operator=(Regex&& other) noexcept;
  ~Regex();

  // Calls `found` for each match, from left to right. Matches do not overlap.
  // After an empty match the search continues one character later.
  Status ForEachMatch(
      std::string_view text,
      const std::function<void(size_t begin, size_t end)>& found) const;

  const std::string& pattern() const { return pattern_; }

 private:
  struct Compiled;
  Regex(std::string pattern, std::unique_ptr<Compiled> compiled);

  std::string pattern_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TEXT_REGEX_H_

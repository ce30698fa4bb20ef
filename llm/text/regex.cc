#include "llm/text/regex.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace ember::llm {
namespace {

// Largest size of a pattern in bytes; the longest published one has less than
// 2,000.
constexpr size_t kMaxPatternBytes = 32 << 10;
constexpr uint32_t kMaxParentheses = 100;
// Number of steps that the first try of a match may take. Published patterns
// match one word with a few steps per character. Matches that need more steps
// take them from a budget for the whole text.
constexpr uint32_t kFirstSteps = 2000;
constexpr uint64_t kBudget = 32'000'000, kBudgetPerByte = 64;
constexpr uint32_t kMaxDepth = 250'000;
constexpr uint32_t kMaxKilobytes = 64 << 10;

std::string Quote(std::string_view pattern) {
  return Concat({"pattern \"", OnOneLine(Shortened(pattern, 80)), "\""});
}

std::string Pcre2Message(int code) {
  PCRE2_UCHAR8 text[160];
  const int size = pcre2_get_error_message_8(code, text, sizeof text);
  if (size < 0) return Concat({"PCRE2 error ", code});
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

}  // namespace

struct Regex::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { pcre2_code_free_8(code); }

  pcre2_code_8* code = nullptr;
};

Regex::Regex(std::string pattern, std::unique_ptr<Compiled> compiled)
    : pattern_(std::move(pattern)), compiled_(std::move(compiled)) {}
Regex::Regex(Regex&& other) noexcept = default;
Regex& Regex::operator=(Regex&& other) noexcept = default;
Regex::~Regex() = default;

StatusOr<Regex> Regex::Compile(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return ResourceExhaustedError(
        Concat({Quote(pattern), ": expected at most ", kMaxPatternBytes,
                " bytes, found ", pattern.size()}));
  }
  auto compiled = std::make_unique<Compiled>();
  pcre2_compile_context_8* const context =
      pcre2_compile_context_create_8(nullptr);
  EMBER_CHECK(context != nullptr) << "out of memory";
  pcre2_set_parens_nest_limit_8(context, kMaxParentheses);
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled->code = pcre2_compile_8(
      reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY,
      &error, &offset, context);
  pcre2_compile_context_free_8(context);
  if (compiled->code == nullptr) {
    return InvalidArgumentError(
        Concat({Quote(pattern),
                ": expected a regular expression, found an error at byte ",
                offset, ": ", Pcre2Message(error)}));
  }
  return Regex(std::string(pattern), std::move(compiled));
}

std::string Regex::Quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') ||
                         static_cast<unsigned char>(c) >= 0x80;
    if (!is_word) result += '\\';
    result += c;
  }
  return result;
}

namespace {

// Matches one pattern in one text, within the limits.
class Matcher {
 public:
  Matcher(const pcre2_code_8* code, std::string_view text)
      : code_(code),
        text_(text),
        match_(pcre2_match_data_create_from_pattern_8(code, nullptr)),
        context_(pcre2_match_context_create_8(nullptr)),
        budget_(kBudget + kBudgetPerByte * text.size()) {
    EMBER_CHECK(match_ != nullptr && context_ != nullptr) << "out of memory";
    pcre2_set_depth_limit_8(context_, kMaxDepth);
    pcre2_set_heap_limit_8(context_, kMaxKilobytes);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  ~Matcher() {
    pcre2_match_context_free_8(context_);
    pcre2_match_data_free_8(match_);
  }

  // Searches for a match from byte `at` on. Returns PCRE2's code, which is
  // positive if a match was found; bounds() then returns its range.
  int Search(size_t at) {
    for (uint64_t steps = kFirstSteps;; steps *= 8) {
      pcre2_set_match_limit_8(
          context_, static_cast<uint32_t>(std::min<uint64_t>(steps, ~0u)));
      const int code =
          pcre2_match_8(code_, reinterpret_cast<PCRE2_SPTR8>(text_.data()),
                        text_.size(), at, PCRE2_NO_UTF_CHECK, match_, context_);
      if (steps > kFirstSteps) budget_ -= std::min(budget_, steps);
      if (code != PCRE2_ERROR_MATCHLIMIT || budget_ < steps * 8) return code;
    }
  }

  const PCRE2_SIZE* bounds() const {
    return pcre2_get_ovector_pointer_8(match_);
  }

 private:
  const pcre2_code_8* code_;
  std::string_view text_;
  pcre2_match_data_8* match_;
  pcre2_match_context_8* context_;
  uint64_t budget_;  // number of steps that are left for matches that need more
                     // than kFirstSteps
};

}  // namespace

Status Regex::ForEachMatch(
    std::string_view text,
    const std::function<void(size_t begin, size_t end)>& found) const {
  Matcher matcher(compiled_->code, text);
  for (size_t at = 0; at <= text.size();) {
    const int code = matcher.Search(at);
    if (code == PCRE2_ERROR_NOMATCH) break;
    if (code < 0) {
      return ResourceExhaustedError(
          Concat({Quote(pattern_),
                  ": expected a match within the limits, found at byte ", at,
                  " of the text: ", Pcre2Message(code)}));
    }
    const size_t begin = matcher.bounds()[0], end = matcher.bounds()[1];
    // A pattern with \K in a lookahead can report a match whose begin is after
    // its end.
    if (begin > end || begin < at) {
      return InvalidArgumentError(
          Concat({Quote(pattern_), ": expected matches in order, found \\K"}));
    }
    found(begin, end);
    at = end;
    if (begin == end) {
      if (at >= text.size()) break;
      at += Utf8At(text, at).size;
    }
  }
  return OkStatus();
}

}  // namespace ember::llm

#include "llm/template/lexer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Kind = Token::Kind;

bool IsNameStart(uint32_t code) { return code == '_' || IsLetter(code); }

bool IsNamePart(uint32_t code) { return code == '_' || IsAlphanumeric(code); }

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the template with '\n' as the only kind of line end, and without a
// line end at its end.
std::string WithLineFeeds(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      result += source[i];
      continue;
    }
    result += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  StatusOr<std::vector<Token>> Lex() {
    while (at_ < source_.size()) {
      EMBER_RETURN_IF_ERROR(LexText());
    }
    Add(Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  Status Error(std::string_view message) const {
    return InvalidArgumentError(Concat({"line ", line_, ": ", message}));
  }

  std::string_view Rest() const {
    return std::string_view(source_).substr(at_);
  }

  void Add(Kind kind, std::string text) {
    tokens_.push_back({kind, line_, std::move(text)});
  }

  // Advances by `size` bytes and counts the lines in them.
  void Skip(size_t size) {
    size = std::min(size, source_.size() - at_);
    line_ += static_cast<int>(
        std::count(source_.begin() + static_cast<ptrdiff_t>(at_),
                   source_.begin() + static_cast<ptrdiff_t>(at_ + size), '\n'));
    at_ += size;
  }

  void SkipSpace() {
    size_t size = 0;
    while (at_ + size < source_.size() && IsSpace(source_[at_ + size])) ++size;
    Skip(size);
  }

  // Reads the text up to the next tag, and then the tag itself.
  Status LexText() {
    size_t tag = at_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        tag = source_.size();
        break;
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    std::string text = source_.substr(at_, tag - at_);
    const bool is_tag = tag < source_.size();
    const char kind = is_tag ? source_[tag + 1] : '\0';
    const char sign =
        is_tag && tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    if (is_tag && sign == '-') {
      while (!text.empty() && IsSpace(text.back())) text.pop_back();
    } else if (is_tag && sign != '+' && kind != '{') {
      StripLineBegin(&text);
    }
    if (!text.empty()) Add(Kind::kText, std::move(text));
    Skip(tag - at_);
    if (!is_tag) return OkStatus();
    const bool has_sign = sign == '-' || sign == '+';
    if (kind == '#') return SkipComment(has_sign);
    if (kind == '%' && TagSize(at_, "raw") > 0) return LexRaw();
    Add(kind == '{' ? Kind::kVariableBegin : Kind::kBlockBegin, "");
    Skip(has_sign ? 3 : 2);
    return LexTag(kind == '{');
  }

  // Removes the spaces before a tag if only spaces precede it on its line.
  void StripLineBegin(std::string* text) const {
    const size_t feed = text->rfind('\n');
    const size_t begin = feed == std::string::npos ? 0 : feed + 1;
    const bool begins_line =
        feed != std::string::npos || at_ == 0 || source_[at_ - 1] == '\n';
    if (!begins_line) return;
    if (std::all_of(text->begin() + static_cast<ptrdiff_t>(begin), text->end(),
                    IsSpace)) {
      text->resize(begin);
    }
  }

  // If the end of a block or comment (`mark`, two bytes, maybe with a sign
  // before) is next, advances past it and past the white space that it removes.
  // Returns false otherwise.
  bool SkipEnd(std::string_view mark) {
    const std::string_view rest = Rest();
    if (rest.starts_with('-') && rest.substr(1).starts_with(mark)) {
      Skip(3);
      SkipSpace();
      return true;
    }
    if (rest.starts_with('+') && rest.substr(1).starts_with(mark)) {
      Skip(3);
      return true;
    }
    if (!rest.starts_with(mark)) return false;
    Skip(2);
    if (Rest().starts_with('\n')) Skip(1);
    return true;
  }

  Status SkipComment(bool has_sign) {
    const size_t end = source_.find("#}", at_ + (has_sign ? 3 : 2));
    if (end == std::string::npos) {
      return Error("expected #} behind {#, found the end of the template");
    }
    const bool ends_with_sign =
        end > at_ + 2 && (source_[end - 1] == '-' || source_[end - 1] == '+');
    Skip((ends_with_sign ? end - 1 : end) - at_);
    SkipEnd("#}");
    return OkStatus();
  }

  // Returns the size of the tag {% name %} that begins at `at`, without white
  // space after it; 0 if no such tag begins there.
  size_t TagSize(size_t at, std::string_view name) const {
    const size_t begin = at;
    const auto skip_space = [&] {
      while (at < source_.size() && IsSpace(source_[at])) ++at;
    };
    if (source_.compare(at, 2, "{%") != 0) return 0;
    at += 2;
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) ++at;
    skip_space();
    if (source_.compare(at, name.size(), name) != 0) return 0;
    at += name.size();
    skip_space();
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) ++at;
    return source_.compare(at, 2, "%}") == 0 ? at + 2 - begin : 0;
  }

  // Advances past a tag of this size and past the white space that it removes.
  void SkipTag(size_t size) {
    const bool has_sign =
        source_[at_ + size - 3] == '-' || source_[at_ + size - 3] == '+';
    Skip(size - (has_sign ? 3 : 2));
    SkipEnd("%}");
  }

  Status LexRaw() {
    // The tag {% raw %} keeps the line feed after it, unlike other blocks.
    const size_t size = TagSize(at_, "raw");
    const bool removes_space = source_[at_ + size - 3] == '-';
    Skip(size);
    if (removes_space) SkipSpace();
    const size_t begin = at_;
    for (size_t at = begin;; ++at) {
      at = source_.find("{%", at);
      if (at == std::string::npos) {
        return Error("expected {% endraw %}, found the end of the template");
      }
      const size_t size = TagSize(at, "endraw");
      if (size == 0) continue;
      std::string text = source_.substr(begin, at - begin);
      const char sign = source_[at + 2];
      if (sign == '-') {
        while (!text.empty() && IsSpace(text.back())) text.pop_back();
      } else if (sign != '+') {
        StripLineBegin(&text);
      }
      if (!text.empty()) Add(Kind::kText, std::move(text));
      Skip(at - at_);
      SkipTag(size);
      return OkStatus();
    }
  }

  // Reads the tokens inside of a tag, up to its end.
  Status LexTag(bool is_variable) {
    std::string brackets;
    while (true) {
      SkipSpace();
      if (at_ >= source_.size()) {
        return Error(is_variable
                         ? "expected }} behind {{, found the end of the "
                           "template"
                         : "expected %} behind {%, found the end of the "
                           "template");
      }
      if (brackets.empty() && LexTagEnd(is_variable)) return OkStatus();
      const char c = source_[at_];
      if (c == '"' || c == '\'') {
        EMBER_RETURN_IF_ERROR(LexString());
      } else if (IsDigit(c)) {
        LexNumber();
      } else if (IsNameStart(Utf8At(source_, at_).code)) {
        LexName();
      } else {
        EMBER_RETURN_IF_ERROR(LexOperator(&brackets));
      }
    }
  }

  bool LexTagEnd(bool is_variable) {
    const std::string_view rest = Rest();
    const int line = line_;
    if (is_variable) {
      if (rest.starts_with("-}}")) {
        Skip(3);
        SkipSpace();
      } else if (rest.starts_with("}}")) {
        Skip(2);
      } else {
        return false;
      }
    } else if (!SkipEnd("%}")) {
      return false;
    }
    tokens_.push_back(
        {is_variable ? Kind::kVariableEnd : Kind::kBlockEnd, line, ""});
    return true;
  }

  void LexName() {
    size_t end = at_;
    while (end < source_.size()) {
      const Utf8Char c = Utf8At(source_, end);
      if (!IsNamePart(c.code)) break;
      end += c.size;
    }
    Add(Kind::kName, source_.substr(at_, end - at_));
    Skip(end - at_);
  }

  void LexNumber() {
    size_t end = at_;
    std::string digits;
    bool is_float = false;
    const auto read_digits = [&] {
      while (end < source_.size() &&
             (IsDigit(source_[end]) ||
              (source_[end] == '_' && end + 1 < source_.size() &&
               IsDigit(source_[end + 1])))) {
        if (source_[end] != '_') digits += source_[end];
        ++end;
      }
    };
    const auto digit_at = [&](size_t at) {
      return at < source_.size() && IsDigit(source_[at]);
    };
    read_digits();
    // A point begins a fraction only if a digit follows: "1.5" is a float,
    // while "1.items" is an attribute of 1.
    if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      is_float = true;
      digits += '.';
      ++end;
      read_digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const size_t sign =
          end + 1 < source_.size() &&
                  (source_[end + 1] == '+' || source_[end + 1] == '-')
              ? 1
              : 0;
      if (digit_at(end + 1 + sign)) {
        is_float = true;
        digits.append(source_, end, 1 + sign);
        end += 1 + sign;
        read_digits();
      }
    }
    Add(is_float ? Kind::kFloat : Kind::kInteger, std::move(digits));
    Skip(end - at_);
  }

  Status LexString() {
    const char quote = source_[at_];
    std::string text;
    size_t at = at_ + 1;
    while (true) {
      if (at >= source_.size()) {
        return Error(
            "expected the end of a string, found that of the "
            "template");
      }
      const char c = source_[at++];
      if (c == quote) break;
      if (c != '\\' || at >= source_.size()) {
        text += c;
        continue;
      }
      at = AppendEscape(at, &text);
    }
    Add(Kind::kString, std::move(text));
    Skip(at - at_);
    return OkStatus();
  }

  // Appends the character of an escape sequence, whose letter is at index `at`.
  // Returns the index after the sequence.
  size_t AppendEscape(size_t at, std::string* text) const {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"";
    static constexpr std::string_view kCharacters = "\a\b\f\n\r\t\v\\'\"";
    const char letter = source_[at++];
    const size_t known = kLetters.find(letter);
    if (known != std::string_view::npos) {
      *text += kCharacters[known];
      return at;
    }
    if (letter == '\n') return at;
    const size_t digits = letter == 'x'   ? 2
                          : letter == 'u' ? 4
                          : letter == 'U' ? 8
                                          : 0;
    uint32_t code = 0;
    size_t count = 0;
    for (; count < digits && at + count < source_.size(); ++count) {
      const size_t digit =
          std::string_view("0123456789abcdef")
              .find(static_cast<char>(source_[at + count] | 0x20));
      if (digit == std::string_view::npos) break;
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    if (digits > 0 && count == digits) {
      AppendUtf8(code, text);
      return at + digits;
    }
    // An unknown escape sequence is kept as it is, with its backslash.
    *text += '\\';
    *text += letter;
    return at;
  }

  Status LexOperator(std::string* brackets) {
    static constexpr std::string_view kOperators[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const std::string_view rest = Rest();
    for (const std::string_view known : kOperators) {
      if (!rest.starts_with(known)) continue;
      const char c = known[0];
      if (c == '(' || c == '[' || c == '{') *brackets += c;
      if (c == ')' || c == ']' || c == '}') {
        const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (!brackets->ends_with(open)) {
          return Error(
              Concat({"found ", known, " without ", std::string(1, open)}));
        }
        brackets->pop_back();
      }
      Add(Kind::kOperator, std::string(known));
      Skip(known.size());
      return OkStatus();
    }
    const Utf8Char c = Utf8At(source_, at_);
    return Error(Concat({"found an unexpected character '",
                         OnOneLine(ToValidUtf8(rest.substr(0, c.size))), "'"}));
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

StatusOr<std::vector<Token>> LexTemplate(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    return ResourceExhaustedError(
        Concat({"expected at most ", kMaxTemplateBytes, " bytes, found ",
                source.size()}));
  }
  return Lexer(WithLineFeeds(ToValidUtf8(source))).Lex();
}

}  // namespace ember::llm

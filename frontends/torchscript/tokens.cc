#include "frontends/torchscript/tokens.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  StatusOr<std::vector<Token>> Run() {
    while (at_ < text_.size() && error_.empty()) Next();
    if (!error_.empty()) {
      return DataLossError("line " + std::to_string(line_) + ": " + error_);
    }
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::kLineEnd)
      Add(Token::Kind::kLineEnd);
    for (; indents_.size() > 1; indents_.pop_back()) Add(Token::Kind::kDedent);
    Add(Token::Kind::kEnd);
    return std::move(tokens_);
  }

 private:
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  Token& Add(Token::Kind kind) {
    tokens_.push_back({.kind = kind, .line = line_, .text = {}});
    return tokens_.back();
  }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void Next() {
    if (is_line_start_) return StartLine();
    const char c = Peek();
    if (c == '\n') {
      if (depth_ == 0) {
        Add(Token::Kind::kLineEnd);
        is_line_start_ = true;
      }
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\\' && Peek(1) == '\n') {
      at_ += 2;
      ++line_;
    } else if (c == '#') {
      SkipComment();
    } else if (c == '"' || c == '\'') {
      String(c);
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      Number();
    } else if (IsNameStart(c)) {
      const size_t first = at_;
      while (IsNameStart(Peek()) || IsDigit(Peek())) ++at_;
      Add(Token::Kind::kName).text = text_.substr(first, at_ - first);
    } else {
      Sign();
    }
  }

  void SkipComment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void StartLine() {
    size_t width = 0;
    while (Peek() == ' ' || Peek() == '\t') {
      ++width;
      ++at_;
    }
    if (Peek() == '\r') ++at_;
    if (Peek() == '#') SkipComment();
    if (at_ >= text_.size()) return;
    if (Peek() == '\n') {  // An empty line does not end a block.
      ++line_;
      ++at_;
      return;
    }
    is_line_start_ = false;
    if (width > indents_.back()) {
      indents_.push_back(width);
      Add(Token::Kind::kIndent);
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      Add(Token::Kind::kDedent);
    }
    if (width != indents_.back())
      Fail("expected the indentation of a block around it, found " +
           std::to_string(width) + " spaces");
  }

  // Returns the value of a float literal that a double cannot hold, as Python
  // reads it: infinity, or 0 if the literal is closer to 0 than all doubles.
  static double ExtremeValue(std::string_view digits) {
    const size_t exponent = digits.find_first_of("eE");
    const bool is_small =
        exponent != std::string_view::npos
            ? digits[exponent + 1] == '-'
            : digits.find_first_of("123456789") > digits.find('.');
    return is_small ? 0 : std::numeric_limits<double>::infinity();
  }

  void Number() {
    const size_t first = at_;
    bool is_float = false;
    while (IsDigit(Peek()) || Peek() == '.') is_float |= text_[at_++] == '.';
    if (Peek() == 'e' || Peek() == 'E') {
      is_float = true;
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const std::string_view digits = text_.substr(first, at_ - first);
    Token& token = Add(is_float ? Token::Kind::kFloat : Token::Kind::kInteger);
    token.text = digits;
    const char* end = digits.data() + digits.size();
    const auto result =
        is_float ? std::from_chars(digits.data(), end, token.number)
                 : std::from_chars(digits.data(), end, token.integer);
    const bool is_extreme =
        is_float && result.ec == std::errc::result_out_of_range;
    if (is_extreme) token.number = ExtremeValue(digits);
    const bool is_read = result.ec == std::errc() || is_extreme;
    if (!is_read || result.ptr != end || IsNameStart(Peek())) {
      Fail("expected a number of at most 64 bits, found '" +
           std::string(digits.substr(0, 40)) + "'");
    }
  }

  std::optional<int> Digits(int most, int base) {
    int value = 0;
    int count = 0;
    for (; count < most; ++count) {
      const char c = Peek();
      int digit = base;
      if (IsDigit(c)) digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit >= base) break;
      value = value * base + digit;
      ++at_;
    }
    if (count == 0) return std::nullopt;
    return value;
  }

  void String(char quote) {
    ++at_;
    std::string value;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      char c = text_[at_++];
      if (c != '\\') {
        value += c;
        continue;
      }
      c = Peek();
      if (c >= '0' && c <= '7') {
        value += static_cast<char>(Digits(3, 8).value_or(0));
        continue;
      }
      if (at_ < text_.size()) ++at_;
      switch (c) {
        case 'n':
          value += '\n';
          break;
        case 't':
          value += '\t';
          break;
        case 'r':
          value += '\r';
          break;
        case 'a':
          value += '\a';
          break;
        case 'b':
          value += '\b';
          break;
        case 'f':
          value += '\f';
          break;
        case 'v':
          value += '\v';
          break;
        case 'x': {
          const std::optional<int> code = Digits(2, 16);
          if (!code) Fail("expected two hex digits after \\x in a text");
          value += static_cast<char>(code.value_or(0));
          break;
        }
        default:
          value += c;
      }
    }
    if (Peek() != quote) {
      Fail("expected the end of a text on its line, found none");
      return;
    }
    ++at_;
    Add(Token::Kind::kString).text = std::move(value);
  }

  void Sign() {
    static constexpr std::string_view kTwo[] = {
        "->", "==", "!=", "<=", ">=", "//", "**", "<<", ">>"};
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view sign : kTwo) {
      if (!rest.starts_with(sign)) continue;
      Add(Token::Kind::kSign).text = sign;
      at_ += 2;
      return;
    }
    const char c = rest.front();
    if (std::string_view("()[]{}:,.=+-*/%<>&|^~@;").find(c) ==
        std::string_view::npos) {
      Fail("expected Python, found '" + OnOneLine(rest.substr(0, 1)) + "'");
      return;
    }
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    Add(Token::Kind::kSign).text = rest.substr(0, 1);
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;  // depth of brackets
  bool is_line_start_ = true;
  std::vector<size_t> indents_ = {0};
  std::string error_;
  std::vector<Token> tokens_;
};

}  // namespace

StatusOr<std::vector<Token>> Tokenize(std::string_view text) {
  return Tokenizer(text).Run();
}

}  // namespace ember::torchscript

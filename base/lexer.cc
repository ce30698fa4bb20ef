#include "base/lexer.h"

#include <charconv>

namespace ember {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '.' || c == '$';
}
bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsSigilSign(char c) {
  return c == '%' || c == '@' || c == '^' || c == '!' || c == '$';
}

constexpr std::string_view kLongPunctuation[] = {"->", "==", "!=", "<=", ">=",
                                                 "+=", "-=", "*=", "/=", "&&",
                                                 "||", "<<", ">>", "::"};

std::string Describe(const Token& token) {
  if (token.kind == Token::kEnd) return "the end of the text";
  constexpr size_t kLongest = 40;
  const std::string_view text = token.text.substr(0, kLongest);
  std::string description = "'";
  for (char c : text) {
    const bool printable = c >= 0x20 && c < 0x7f;
    description += printable ? c : '?';
  }
  return description + (text.size() < token.text.size() ? "...'" : "'");
}

int HexDigitValue(char c) {
  if (IsDigit(c)) return c - '0';
  return (c | 0x20) - 'a' + 10;
}

}  // namespace

Status ErrorAt(const Token& token, std::string_view message) {
  return InvalidArgumentError(std::to_string(token.line) + ":" +
                              std::to_string(token.column) + ": " +
                              std::string(message));
}

Lexer::Lexer(std::string_view text) : text_(text) { Advance(); }

Token Lexer::Next() {
  Token token = current_;
  Advance();
  return token;
}

bool Lexer::Accept(std::string_view text) {
  if (!current_.Is(text)) return false;
  Advance();
  return true;
}

Status Lexer::Expect(std::string_view text) {
  if (Accept(text)) return OkStatus();
  return ExpectedError("'" + std::string(text) + "'");
}

StatusOr<Token> Lexer::Expect(Token::Kind kind, std::string_view what) {
  if (current_.kind != kind) return ExpectedError(what);
  return Next();
}

StatusOr<Token> Lexer::ExpectSigil(char sign, std::string_view what) {
  if (current_.kind != Token::kSigil || current_.text[0] != sign)
    return ExpectedError(what);
  return Next();
}

StatusOr<int64_t> Lexer::ExpectInteger(std::string_view what) {
  const bool negative = Accept("-");
  const Token token = current_;
  EMBER_RETURN_IF_ERROR(Expect(Token::kInteger, what).status());
  EMBER_ASSIGN_OR_RETURN(const uint64_t magnitude, IntegerValue(token));
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (magnitude > limit)
    return ErrorAt(token, "the number does not fit 64 bits");
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

Status Lexer::ExpectedError(std::string_view expected) const {
  return ErrorAt(current_, "expected " + std::string(expected) + ", found " +
                               Describe(current_));
}

void Lexer::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else {
      return;
    }
  }
}

// Returns the end of the number at position_. Letters behind the digits belong
// to the token, so that 12ab is one malformed token and not two.
size_t Lexer::ScanNumber() const {
  const std::string_view rest = text_.substr(position_);
  const bool hex = rest.size() > 1 && rest[0] == '0' && (rest[1] | 0x20) == 'x';
  const char exponent = hex ? 'p' : 'e';
  size_t end = position_;
  while (end < text_.size() &&
         (IsLetter(text_[end]) || IsDigit(text_[end]) || text_[end] == '.')) {
    const bool at_exponent = (text_[end] | 0x20) == exponent;
    ++end;
    if (at_exponent && end < text_.size() &&
        (text_[end] == '-' || text_[end] == '+'))
      ++end;
  }
  return end;
}

size_t Lexer::ScanString() const {
  size_t end = position_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' && end + 1 < text_.size() ? 2 : 1;
  }
  return end < text_.size() && text_[end] == '"' ? end + 1 : end;
}

void Lexer::Advance() {
  SkipSpace();
  current_ = Token();
  current_.line = line_;
  current_.column = static_cast<int>(position_ - line_start_) + 1;
  if (position_ >= text_.size()) return;
  const char c = text_[position_];
  size_t end = position_ + 1;
  if (IsLetter(c)) {
    current_.kind = Token::kIdentifier;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
  } else if (IsDigit(c)) {
    end = ScanNumber();
    const std::string_view number = text_.substr(position_, end - position_);
    const bool hex = number.size() > 1 && (number[1] | 0x20) == 'x';
    const bool is_float =
        number.find_first_of(hex ? ".pP" : ".eE") != std::string_view::npos;
    current_.kind = is_float ? Token::kFloat : Token::kInteger;
  } else if (c == '"') {
    current_.kind = Token::kString;
    end = ScanString();
  } else if (IsSigilSign(c) && end < text_.size() &&
             IsNameCharacter(text_[end])) {
    current_.kind = Token::kSigil;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
  } else {
    current_.kind = Token::kPunctuation;
    for (std::string_view punctuation : kLongPunctuation) {
      if (text_.substr(position_, 2) == punctuation) end = position_ + 2;
    }
  }
  current_.text = text_.substr(position_, end - position_);
  position_ = end;
}

StatusOr<uint64_t> IntegerValue(const Token& token) {
  std::string_view digits = token.text;
  const bool hex =
      digits.size() > 1 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  if (hex) digits.remove_prefix(2);
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const std::from_chars_result result =
      std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  if (result.ec == std::errc::result_out_of_range) {
    return ErrorAt(token, "the number does not fit 64 bits");
  }
  if (token.kind != Token::kInteger || result.ec != std::errc() ||
      result.ptr != end) {
    return ErrorAt(token, "expected an integer, found " + Describe(token));
  }
  return value;
}

StatusOr<std::string> StringValue(const Token& token) {
  const std::string_view text = token.text;
  if (token.kind != Token::kString || text.size() < 2 || text.back() != '"') {
    return ErrorAt(token, "expected a string, found " + Describe(token));
  }
  std::string value;
  size_t i = 1;
  while (i + 1 < text.size()) {
    const char c = text[i++];
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escape = text[i++];
    if (escape == 'n') {
      value += '\n';
    } else if (escape == 't') {
      value += '\t';
    } else if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (escape == 'x' && i + 2 < text.size() && IsHexDigit(text[i]) &&
               IsHexDigit(text[i + 1])) {
      value += static_cast<char>(HexDigitValue(text[i]) * 16 +
                                 HexDigitValue(text[i + 1]));
      i += 2;
    } else {
      return ErrorAt(token, "unknown escape in string " + Describe(token));
    }
  }
  return value;
}

std::string QuoteString(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : bytes) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      quoted += c;
    } else {
      quoted += "\\x";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 15];
    }
  }
  return quoted + '"';
}

}  // namespace ember

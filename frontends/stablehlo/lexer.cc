#include "frontends/stablehlo/lexer.h"

#include <vector>

#include "base/checked_math.h"
#include "base/one_line.h"

namespace ember::stablehlo {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '$' || c == '.';
}

// Returns the character that closes a bracket; 0 if the token is no bracket.
char Closing(std::string_view token) {
  if (token == "(") return ')';
  if (token == "[") return ']';
  if (token == "{") return '}';
  if (token == "<") return '>';
  return 0;
}

// Largest number of bytes of a token that a message shows.
constexpr size_t kShown = 40;

// True for characters that may end a string, and for the backslash, which may
// escape them.
bool IsStringMark(char c) { return c == '"' || c == '\n' || c == '\\'; }

// Number of characters that HasStringMark examines at once. They fill one or
// two vector registers.
constexpr size_t kStringBlock = 32;

// True if a block of kStringBlock characters contains a string mark. It
// compares all characters without branches, so that compilers vectorise it.
bool HasStringMark(const char* block) {
  int marks = 0;
  for (size_t i = 0; i < kStringBlock; ++i)
    marks |= static_cast<int>(block[i] == '"') |
             static_cast<int>(block[i] == '\n') |
             static_cast<int>(block[i] == '\\');
  return marks != 0;
}

}  // namespace

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

MlirLexer::MlirLexer(std::string_view text) : text_(text) { Advance(); }

Token MlirLexer::Next() {
  const Token token = current_;
  Advance();
  return token;
}

bool MlirLexer::Accept(std::string_view text) {
  if (!current_.Is(text) || AtEnd()) return false;
  Advance();
  return true;
}

Status MlirLexer::Expect(std::string_view text) {
  if (Accept(text)) return OkStatus();
  return ExpectedError("'" + std::string(text) + "'");
}

Status MlirLexer::ExpectedError(std::string_view expected) const {
  std::string found = "the end";
  if (!AtEnd()) {
    found = "'" + OnOneLine(current_.text.substr(0, kShown)) +
            (current_.text.size() > kShown ? "…'" : "'");
  }
  return ErrorAt(current_,
                 "expected " + std::string(expected) + ", found " + found);
}

StatusOr<std::optional<int64_t>> MlirLexer::AcceptDim() {
  const size_t begin = position_ - current_.text.size();
  size_t end = begin;
  int64_t dim = 0;
  if (end < text_.size() && text_[end] == '?') {
    dim = -1;  // module.h: kDynamic
    ++end;
  } else {
    for (; end < text_.size() && IsDigit(text_[end]); ++end) {
      const auto shifted = CheckedMultiply(dim, 10);
      const auto sum =
          shifted ? CheckedAdd(*shifted, text_[end] - '0') : std::nullopt;
      if (!sum) return ErrorAt(current_, "expected a dim within 64 bits");
      dim = *sum;
    }
  }
  if (end == begin) return std::optional<int64_t>();
  if (end >= text_.size() || text_[end] != 'x')
    return ErrorAt(current_, "expected 'x' after a dim");
  position_ = end + 1;
  Advance();
  return std::optional<int64_t>(dim);
}

StatusOr<std::string_view> MlirLexer::SkipBalanced() {
  const Token first = current_;
  const size_t begin = position_ - current_.text.size();
  std::vector<char> open;
  while (true) {
    if (AtEnd()) return ErrorAt(first, "expected a bracket that closes this");
    if (const char closing = Closing(current_.text);
        closing != 0 && current_.kind == Token::kPunctuation) {
      open.push_back(closing);
    } else if (current_.kind == Token::kPunctuation &&
               current_.text.size() == 1 &&
               std::string_view(")]}>").find(current_.text[0]) !=
                   std::string_view::npos) {
      if (open.empty() || open.back() != current_.text[0])
        return ExpectedError(open.empty()
                                 ? "an opening bracket"
                                 : "'" + std::string(1, open.back()) + "'");
      open.pop_back();
    } else if (open.empty()) {
      return ExpectedError("a bracket");
    }
    const size_t end = position_;
    Advance();
    if (open.empty()) return text_.substr(begin, end - begin);
  }
}

void MlirLexer::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      const size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

// Returns the end of the number that begins at position_.
size_t MlirLexer::ScanNumber() const {
  size_t end = position_;
  if (text_.substr(end, 2) == "0x" && end + 2 < text_.size() &&
      HexDigit(text_[end + 2]) >= 0) {
    for (end += 2; end < text_.size() && HexDigit(text_[end]) >= 0;) ++end;
    return end;
  }
  while (end < text_.size() && IsDigit(text_[end])) ++end;
  if (end >= text_.size() || text_[end] != '.') return end;
  ++end;
  while (end < text_.size() && IsDigit(text_[end])) ++end;
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text_.size() &&
        (text_[exponent] == '+' || text_[exponent] == '-'))
      ++exponent;
    if (exponent < text_.size() && IsDigit(text_[exponent])) {
      while (exponent < text_.size() && IsDigit(text_[exponent])) ++exponent;
      end = exponent;
    }
  }
  return end;
}

// Returns the position after the end of the string that begins with the quote
// at `from`. If a line feed without a backslash before it, or the end of the
// text, comes before the closing quote, returns the position of that.
size_t MlirLexer::ScanString(size_t from) const {
  size_t i = from + 1;
  while (true) {
    // Skips whole blocks, because weights are strings of megabytes.
    while (i + kStringBlock <= text_.size() && !HasStringMark(text_.data() + i))
      i += kStringBlock;
    while (i < text_.size() && !IsStringMark(text_[i])) ++i;
    if (i >= text_.size()) return text_.size();
    if (text_[i] == '"') return i + 1;
    if (text_[i] == '\n') return i;
    i += 2;
  }
}

void MlirLexer::Advance() {
  SkipSpace();
  const size_t begin = position_;
  size_t end = begin;
  Token::Kind kind = Token::kEnd;
  const char c = begin < text_.size() ? text_[begin] : '\0';
  const auto next = [&](size_t offset) {
    return begin + offset < text_.size() ? text_[begin + offset] : '\0';
  };
  if (begin >= text_.size()) {
  } else if (IsLetter(c)) {
    kind = Token::kIdentifier;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
  } else if (IsDigit(c)) {
    end = ScanNumber();
    kind = text_.substr(begin, end - begin).find('.') == std::string_view::npos
               ? Token::kInteger
               : Token::kFloat;
  } else if (c == '"') {
    kind = Token::kString;
    end = ScanString(begin);
  } else if (c == '@' && next(1) == '"') {
    kind = Token::kSigil;
    end = ScanString(begin + 1);
  } else if ((c == '%' || c == '@' || c == '^' || c == '!' || c == '#') &&
             IsNameCharacter(next(1))) {
    kind = Token::kSigil;
    for (end = begin + 1; end < text_.size(); ++end) {
      const bool dash =
          text_[end] == '-' && end + 1 < text_.size() && text_[end + 1] != '>';
      if (!IsNameCharacter(text_[end]) && !dash) break;
    }
  } else {
    kind = Token::kPunctuation;
    end = begin + 1;
    for (const std::string_view longer : {"->", "::", "{-#", "#-}", "..."}) {
      if (text_.substr(begin, longer.size()) == longer)
        end = begin + longer.size();
    }
  }
  position_ = end;
  current_ = {kind, text_.substr(begin, end - begin), line_,
              static_cast<int>(begin - line_start_) + 1};
}

StatusOr<std::string> MlirStringValue(const Token& token) {
  const std::string_view text = token.text;
  std::string bytes;
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return ErrorAt(token, "expected a string that ends on its line");
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    const char next = i + 2 < text.size() ? text[i + 1] : '\0';
    if (next == '"' || next == '\\') {
      bytes += next;
      ++i;
    } else if (i + 3 < text.size() && HexDigit(next) >= 0 &&
               HexDigit(text[i + 2]) >= 0) {
      bytes += static_cast<char>(HexDigit(next) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else if (next == 'n' || next == 't') {
      bytes += next == 'n' ? '\n' : '\t';
      ++i;
    } else {
      return ErrorAt(token, "expected a known escape after '\\'");
    }
  }
  return bytes;
}

std::string QuoteMlirString(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte >= 0x7f) {
      text += '\\';
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace ember::stablehlo

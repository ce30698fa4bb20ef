#include "llm/grammar/json_machine.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"

namespace ember::llm {
namespace {

constexpr std::string_view kWords = "true false null ";

bool IsWhiteSpace(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

bool IsDigit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

bool IsHex(uint8_t byte) {
  return IsDigit(byte) || (byte >= 'a' && byte <= 'f') ||
         (byte >= 'A' && byte <= 'F');
}

}  // namespace

uint64_t JsonMachine::Hash() const {
  const uint64_t small =
      static_cast<uint64_t>(mode_) | static_cast<uint64_t>(count_) << 8 |
      static_cast<uint64_t>(low_) << 16 | static_cast<uint64_t>(high_) << 24 |
      static_cast<uint64_t>(depth_) << 32 |
      static_cast<uint64_t>(is_key_) << 40;
  return HashCombine(HashMix(small), stack_);
}

bool JsonMachine::EndsNumber() const {
  return mode_ == Mode::kZero || mode_ == Mode::kDigits ||
         mode_ == Mode::kFraction || mode_ == Mode::kExponentDigit ||
         mode_ == Mode::kExponentEnd;
}

bool JsonMachine::IsComplete() const {
  return depth_ == 0 && (mode_ == Mode::kAfterValue || EndsNumber());
}

bool JsonMachine::Open(bool is_object) {
  // If the text must be an object, its outermost value may not be an array.
  if (depth_ == 0 && limits_.is_object && !is_object) return false;
  if (depth_ >= std::min<uint8_t>(limits_.depth, 64)) return false;
  stack_ = stack_ << 1 | (is_object ? 1 : 0);
  ++depth_;
  return Go(is_object ? Mode::kFirstKey : Mode::kFirstItem);
}

bool JsonMachine::Close(bool is_object) {
  if (depth_ == 0 || IsInObject() != is_object) return false;
  stack_ >>= 1;
  --depth_;
  return Go(Mode::kAfterValue);
}

bool JsonMachine::PushWhiteSpace() {
  if (count_ >= limits_.white_space) return false;
  ++count_;
  return true;
}

bool JsonMachine::PushValue(uint8_t byte) {
  if (byte == '{') return Open(true);
  if (byte == '[') return Open(false);
  if (depth_ == 0 && limits_.is_object) return false;
  switch (byte) {
    case '"':
      is_key_ = false;
      return Go(Mode::kText);
    case '-':
      return Go(Mode::kMinus, 1);
    case '0':
      return Go(Mode::kZero, 1);
    case 't':
    case 'f':
    case 'n':
      return Go(Mode::kWord,
                static_cast<uint8_t>(kWords.find(static_cast<char>(byte)) + 1));
    default:
      return IsDigit(byte) && Go(Mode::kDigits, 1);
  }
}

bool JsonMachine::PushText(uint8_t byte) {
  if (byte == '"') return Go(is_key_ ? Mode::kColon : Mode::kAfterValue);
  if (byte == '\\') return Go(Mode::kEscape);
  if (byte < 0x20) return false;
  if (byte < 0x80) return true;
  // Sets the bounds of the next byte according to the well-formed sequences in
  // table 3-7 of the Unicode Standard.
  if (byte < 0xc2 || byte > 0xf4) return false;
  low_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
  high_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
  return Go(Mode::kUtf8, byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3);
}

bool JsonMachine::PushUtf8(uint8_t byte) {
  if (byte < low_ || byte > high_) return false;
  low_ = 0x80;
  high_ = 0xbf;
  if (--count_ > 0) return true;
  low_ = high_ = 0;
  return Go(Mode::kText);
}

bool JsonMachine::PushEscape(uint8_t byte) {
  if (byte == 'u') return Go(Mode::kHex1);
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  return kLetters.find(static_cast<char>(byte)) != std::string_view::npos &&
         Go(Mode::kText);
}

bool JsonMachine::PushHex(uint8_t byte) {
  if (!IsHex(byte)) return false;
  switch (mode_) {
    case Mode::kHex1:
      return Go(byte == 'd' || byte == 'D' ? Mode::kHex2NoSurrogate
                                           : Mode::kHex2);
    case Mode::kHex2NoSurrogate:
      return byte < '8' && Go(Mode::kHex3);
    case Mode::kHex2:
      return Go(Mode::kHex3);
    case Mode::kHex3:
      return Go(Mode::kHex4);
    default:
      return Go(Mode::kText);
  }
}

bool JsonMachine::PushNumber(uint8_t byte) {
  const bool has_room = count_ < limits_.digits;
  const auto next = static_cast<uint8_t>(count_ + 1);
  switch (mode_) {
    case Mode::kMinus:
      if (byte == '0') return Go(Mode::kZero, next);
      return IsDigit(byte) && Go(Mode::kDigits, next);
    case Mode::kDigits:
      if (IsDigit(byte)) return has_room && Go(Mode::kDigits, next);
      [[fallthrough]];
    case Mode::kZero:
      // The point counts as one more character and must be followed by a digit,
      // so there must be room for two.
      if (byte == '.') {
        return count_ + 1 < limits_.digits && Go(Mode::kPoint, next);
      }
      return (byte == 'e' || byte == 'E') && Go(Mode::kExponent);
    case Mode::kPoint:
      return IsDigit(byte) && Go(Mode::kFraction, next);
    case Mode::kFraction:
      if (IsDigit(byte)) return has_room && Go(Mode::kFraction, next);
      return (byte == 'e' || byte == 'E') && Go(Mode::kExponent);
    case Mode::kExponent:
      if (byte == '+' || byte == '-') return Go(Mode::kExponentSign);
      [[fallthrough]];
    case Mode::kExponentSign:
      return IsDigit(byte) && Go(Mode::kExponentDigit);
    case Mode::kExponentDigit:
      return IsDigit(byte) && Go(Mode::kExponentEnd);
    default:
      return false;
  }
}

bool JsonMachine::PushAfterValue(uint8_t byte) {
  switch (byte) {
    case ',':
      if (depth_ == 0) return false;
      return Go(IsInObject() ? Mode::kKey : Mode::kValue);
    case ']':
      return Close(false);
    case '}':
      return Close(true);
    default:
      return false;
  }
}

bool JsonMachine::Push(uint8_t byte) {
  switch (mode_) {
    case Mode::kValue:
      return IsWhiteSpace(byte) ? PushWhiteSpace() : PushValue(byte);
    case Mode::kFirstItem:
      if (byte == ']') return Close(false);
      return IsWhiteSpace(byte) ? PushWhiteSpace() : PushValue(byte);
    case Mode::kFirstKey:
      if (byte == '}') return Close(true);
      [[fallthrough]];
    case Mode::kKey:
      if (IsWhiteSpace(byte)) return PushWhiteSpace();
      if (byte != '"') return false;
      is_key_ = true;
      return Go(Mode::kText);
    case Mode::kColon:
      if (IsWhiteSpace(byte)) return PushWhiteSpace();
      return byte == ':' && Go(Mode::kValue);
    case Mode::kAfterValue:
      return IsWhiteSpace(byte) ? PushWhiteSpace() : PushAfterValue(byte);
    case Mode::kText:
      return PushText(byte);
    case Mode::kEscape:
      return PushEscape(byte);
    case Mode::kHex1:
    case Mode::kHex2:
    case Mode::kHex3:
    case Mode::kHex4:
    case Mode::kHex2NoSurrogate:
      return PushHex(byte);
    case Mode::kUtf8:
      return PushUtf8(byte);
    case Mode::kWord:
      if (byte != static_cast<uint8_t>(kWords[count_])) return false;
      ++count_;
      return kWords[count_] != ' ' || Go(Mode::kAfterValue);
    case Mode::kMinus:
    case Mode::kZero:
    case Mode::kDigits:
    case Mode::kPoint:
    case Mode::kFraction:
    case Mode::kExponent:
    case Mode::kExponentSign:
    case Mode::kExponentDigit:
    case Mode::kExponentEnd:
      break;
  }
  if (PushNumber(byte)) return true;
  if (!EndsNumber()) return false;
  if (IsWhiteSpace(byte)) {
    return limits_.white_space > 0 && Go(Mode::kAfterValue, 1);
  }
  return PushAfterValue(byte);
}

}  // namespace ember::llm

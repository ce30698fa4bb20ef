#include "base/concat.h"

namespace ember {

void ConcatPiece::AppendTo(std::string& text) const {
  bool is_signed = false;
  uint64_t number = low_;
  switch (kind_) {
    case kTerminated:
      text += text_;
      return;
    case kString:
      text += *string_;
      return;
    case kSized:
      text.append(text_, high_);
      return;
    case kSigned:
      number = static_cast<uint64_t>(static_cast<intptr_t>(low_));
      is_signed = true;
      break;
    case kSigned64:
      is_signed = true;
      [[fallthrough]];
    case kUnsigned64:
      number |= static_cast<uint64_t>(high_) << 32;
      break;
    case kUnsigned:
      break;
  }
  const bool negative = is_signed && static_cast<int64_t>(number) < 0;
  if (negative) number = 0 - number;
  char digits[21];
  char* begin = digits + sizeof(digits);
  do {
    *--begin = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  if (negative) *--begin = '-';
  text.append(begin, digits + sizeof(digits));
}

std::string Concat(std::initializer_list<ConcatPiece> pieces) {
  std::string text;
  for (const ConcatPiece& piece : pieces) piece.AppendTo(text);
  return text;
}

}  // namespace ember

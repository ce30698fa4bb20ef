// Joins texts and integers into one string. A call is far less code than a
// chain of operator+, which matters where there are as many messages as in a
// verifier.
//
//   InvalidArgumentError(Concat({"expected ", 3, " dims, found ", rank}))
//
// Thread-safe.
#ifndef EMBER_BASE_CONCAT_H_
#define EMBER_BASE_CONCAT_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ember {

// One argument of Concat, a text or an integer. It converts implicitly; a text
// must outlive it. Each constructor writes only the words of memory that its
// kind needs, so that the code for each message stays small.
class ConcatPiece {
 public:
  ConcatPiece(const char* text) : text_(text), kind_(kTerminated) {}
  ConcatPiece(const std::string& text) : string_(&text), kind_(kString) {}
  ConcatPiece(std::string_view text)
      : text_(text.data()), high_(text.size()), kind_(kSized) {}
  template <std::integral Integer>
  ConcatPiece(Integer number) : low_(static_cast<uintptr_t>(number)) {
    constexpr bool kIsSigned = std::signed_integral<Integer>;
    if constexpr (sizeof(Integer) > sizeof(uintptr_t)) {
      high_ = static_cast<uintptr_t>(static_cast<uint64_t>(number) >> 32);
      kind_ = kIsSigned ? kSigned64 : kUnsigned64;
    } else {
      kind_ = kIsSigned ? kSigned : kUnsigned;
    }
  }

  void AppendTo(std::string& text) const;

 private:
  enum Kind : int {
    kTerminated,
    kString,
    kSized,
    kSigned,
    kUnsigned,
    kSigned64,
    kUnsigned64
  };
  union {
    const char* text_;
    const std::string* string_;
    uintptr_t low_;
  };
  // for kSized the text's size in bytes; for 64-bit integers on a 32-bit
  // machine their upper 32 bits
  uintptr_t high_;
  Kind kind_;
};

std::string Concat(std::initializer_list<ConcatPiece> pieces);

}  // namespace ember

#endif  // EMBER_BASE_CONCAT_H_

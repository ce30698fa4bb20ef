// A short constant text that is stored in the object itself, for rows of
// constant tables. In such a table a std::string_view needs a pointer, a size
// and, in position-independent code, a relocation, which is three times the
// size of most names.
//
//   struct Row { ShortText<15> name; int rank; };
//   constexpr Row kRows[] = {{"add", 2}};
//   std::string_view name = kRows[0].name;
//
// A text that is too long does not compile. A view of the text is valid as long
// as the object exists.
#ifndef EMBER_BASE_SHORT_TEXT_H_
#define EMBER_BASE_SHORT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ember {

template <size_t kRoom>
class ShortText {
 public:
  template <size_t kSize>
    requires(kSize <= kRoom + 1)
  consteval ShortText(const char (&text)[kSize]) : size_(kSize - 1) {
    for (size_t i = 0; i + 1 < kSize; ++i) text_[i] = text[i];
  }

  constexpr operator std::string_view() const { return {text_, size_}; }

 private:
  char text_[kRoom] = {};
  uint8_t size_;
};

}  // namespace ember

#endif  // EMBER_BASE_SHORT_TEXT_H_

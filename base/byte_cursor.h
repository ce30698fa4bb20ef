// Reads little-endian numbers from bytes, and never beyond them:
//
//   ByteCursor in(bytes);
//   const uint64_t version = in.Unsigned(1);
//   const std::string_view name = AsText(in.Take(in.Unsigned(2)));
//   if (!in.ok()) return DataLossError("…: cut off");
//
// After the first read past the end everything reads as 0 or empty, and ok() is
// false. A value; does not own the bytes.
#ifndef EMBER_BASE_BYTE_CURSOR_H_
#define EMBER_BASE_BYTE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ember {

// Returns a view of the bytes as text.
inline std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return ok_ ? bytes_.size() - position_ : 0; }

  // Reads an unsigned little-endian number of `width` bytes (0 to 8).
  uint64_t Unsigned(int width) {
    const std::span<const uint8_t> bytes = Take(static_cast<uint64_t>(width));
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
  std::span<const uint8_t> Take(uint64_t size) {
    if (size > remaining()) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.subspan(static_cast<size_t>(position_),
                                      static_cast<size_t>(size));
    position_ += size;
    return taken;
  }
  void Skip(uint64_t size) { Take(size); }
  bool Matches(std::string_view text) {
    const std::span<const uint8_t> bytes = Take(text.size());
    return ok_ && AsText(bytes) == text;
  }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;
  bool ok_ = true;
};

}  // namespace ember

#endif  // EMBER_BASE_BYTE_CURSOR_H_

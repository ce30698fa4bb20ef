// Reads little-endian numbers from bytes, and never beyond them:
//
//   Cursor in(bytes);
//   const uint64_t version = in.Unsigned(1);
//   const std::span<const uint8_t> name = in.Take(in.Unsigned(2));
//   if (!in.ok()) return DataLossError("…: cut off");
//
// After the first read past the end everything reads as 0 or empty, and ok() is
// false. A value; does not own the bytes.
#ifndef EMBER_FRONTENDS_HDF5_CURSOR_H_
#define EMBER_FRONTENDS_HDF5_CURSOR_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace ember::hdf5 {

class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return ok_ ? bytes_.size() - position_ : 0; }

  // width: 0 to 8 bytes.
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
    const auto taken = bytes_.subspan(position_, size);
    position_ += size;
    return taken;
  }
  void Skip(uint64_t size) { Take(size); }
  bool Matches(std::string_view text) {
    const std::span<const uint8_t> bytes = Take(text.size());
    return ok_ && std::string_view(reinterpret_cast<const char*>(bytes.data()),
                                   bytes.size()) == text;
  }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;
  bool ok_ = true;
};

inline std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ember::hdf5

#endif  // EMBER_FRONTENDS_HDF5_CURSOR_H_

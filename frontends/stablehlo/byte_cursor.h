// The primitives of MLIR's bytecode, read from a span with checks.
//
//   ByteCursor cursor(bytes);
//   const uint64_t count = cursor.Varint();
//   if (!cursor.ok()) return DataLossError("…");
//
// What is not there reads as 0, and ok() is false from then on. Thread-
// compatible.
//
// Source: MLIR's documentation of its bytecode format.
#ifndef EMBER_FRONTENDS_STABLEHLO_BYTE_CURSOR_H_
#define EMBER_FRONTENDS_STABLEHLO_BYTE_CURSOR_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ember::stablehlo {

class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  void Fail() { ok_ = false; }

  std::span<const uint8_t> Take(uint64_t size) {
    if (!ok_ || size > bytes_.size() - position_) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.subspan(position_, size);
    position_ += size;
    return taken;
  }
  uint8_t Byte() {
    const auto taken = Take(1);
    return taken.empty() ? 0 : taken[0];
  }
  // The number of zeros in front of the first one bit, from the lowest on, says
  // how many bytes come behind the first.
  uint64_t Varint() {
    const uint8_t first = Byte();
    if (first == 0) return Little(8);
    const int more = std::countr_zero(first);
    const uint64_t rest = Little(more);
    return rest << (7 - more) | first >> (more + 1);
  }
  // Zigzag.
  int64_t SignedVarint() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // A count of things of at least one byte each.
  uint64_t Count() {
    const uint64_t count = Varint();
    if (count > bytes_.size() - position_) ok_ = false;
    return ok_ ? count : 0;
  }
  // Up to a byte 0.
  std::string_view Terminated() {
    const size_t begin = position_;
    while (ok_ && Byte() != 0) {
    }
    if (!ok_) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + begin,
            position_ - begin - 1};
  }

 private:
  uint64_t Little(int size) {
    uint64_t value = 0;
    const auto taken = Take(static_cast<uint64_t>(size));
    for (size_t i = 0; i < taken.size(); ++i)
      value |= static_cast<uint64_t>(taken[i]) << (8 * i);
    return value;
  }

  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BYTE_CURSOR_H_

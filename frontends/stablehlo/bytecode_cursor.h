// Reads the primitives of MLIR's bytecode, on base's cursor.
//
//   BytecodeCursor cursor(bytes);
//   const uint64_t count = cursor.Varint();
//   if (!cursor.ok()) return DataLossError("…");
//
// Reading past the end gives 0, and ok() is false from then on. Thread-
// compatible.
//
// Source: MLIR's documentation of its bytecode format.
#ifndef EMBER_FRONTENDS_STABLEHLO_BYTECODE_CURSOR_H_
#define EMBER_FRONTENDS_STABLEHLO_BYTECODE_CURSOR_H_

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/byte_cursor.h"

namespace ember::stablehlo {

class BytecodeCursor : public ByteCursor {
 public:
  BytecodeCursor() : BytecodeCursor(std::span<const uint8_t>()) {}
  explicit BytecodeCursor(std::span<const uint8_t> bytes) : ByteCursor(bytes) {}

  // True at the end of the bytes, and after a failure.
  bool AtEnd() const { return remaining() == 0; }
  void Fail() { Skip(remaining() + 1); }

  uint8_t Byte() { return static_cast<uint8_t>(Unsigned(1)); }
  // Reads a number of variable length. The number of trailing zero bits of its
  // first byte is the number of bytes that follow it.
  uint64_t Varint() {
    const uint8_t first = Byte();
    if (first == 0) return Unsigned(8);
    const int more = std::countr_zero(first);
    const uint64_t rest = Unsigned(more);
    return rest << (7 - more) | first >> (more + 1);
  }
  // Reads a zigzag-encoded number.
  int64_t SignedVarint() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // Reads a count of items that take at least one byte each.
  uint64_t Count() {
    const uint64_t count = Varint();
    if (count <= remaining()) return count;
    Fail();
    return 0;
  }
  // Reads a text that ends with a zero byte.
  std::string_view Terminated() {
    ByteCursor begin = *this;
    while (ok() && Byte() != 0) {
    }
    if (!ok()) return {};
    return AsText(begin.Take(position() - begin.position() - 1));
  }
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BYTECODE_CURSOR_H_

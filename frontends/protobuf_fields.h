// Reads the fields of an encoded protobuf message one by one, without parsing
// their contents: to distinguish formats, and to find large values in a mapped
// file that must not be copied.
//
//   ProtobufFields fields(message);
//   ProtobufField field;
//   while (fields.Next(field))
//     if (field.number == 7) Use(field.bytes);
//   if (fields.damaged()) …   // it stopped at bytes that are no field
//
// Nothing outside the bytes is ever read; groups count as damage. Source:
// protobuf.dev/programming-guides/encoding. Thread-compatible; the bytes must
// outlive the fields.
#ifndef EMBER_FRONTENDS_PROTOBUF_FIELDS_H_
#define EMBER_FRONTENDS_PROTOBUF_FIELDS_H_

#include <cstdint>
#include <span>

namespace ember::frontends {

enum class WireType : uint8_t { kVarint = 0, kI64 = 1, kBytes = 2, kI32 = 5 };

struct ProtobufField {
  uint64_t number = 0;  // at least 1
  WireType type = WireType::kVarint;
  // Value of a field that is a varint or a number of fixed width.
  uint64_t value = 0;
  // Contents of a field that is a string, a message, or a list of packed
  // numbers.
  std::span<const uint8_t> bytes;
  // The encoded bytes of the whole field, with the tag that precedes its
  // contents.
  std::span<const uint8_t> encoding;
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::span<const uint8_t> message) : rest_(message) {}

  // Reads the next field. Returns false at the end of the message, and if the
  // following bytes are no field.
  bool Next(ProtobufField& field);
  bool damaged() const { return damaged_; }

 private:
  std::span<const uint8_t> rest_;
  bool damaged_ = false;
};

// Reads a varint and removes it from the front of `bytes`; false if there is
// none.
bool ReadVarint(std::span<const uint8_t>& bytes, uint64_t& value);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_PROTOBUF_FIELDS_H_

// The fields of an encoded protobuf message, one after the other, without
// parsing what is in them: for telling formats apart, and for finding large
// values in a mapped file that are not to be copied.
//
//   ProtobufFields fields(message);
//   ProtobufField field;
//   while (fields.Next(field))
//     if (field.number == 7) Use(field.bytes);
//   if (fields.damaged()) …   // where it stopped is no field
//
// Nothing is read outside the bytes, whatever they are; groups count as damage.
// Source: protobuf.dev/programming-guides/encoding. Thread-compatible; the
// bytes must outlive what is read of them.
#ifndef EMBER_FRONTENDS_PROTOBUF_FIELDS_H_
#define EMBER_FRONTENDS_PROTOBUF_FIELDS_H_

#include <cstdint>
#include <span>

namespace ember::frontends {

enum class WireType : uint8_t { kVarint = 0, kI64 = 1, kBytes = 2, kI32 = 5 };

struct ProtobufField {
  uint64_t number = 0;  // at least 1
  WireType type = WireType::kVarint;
  uint64_t value = 0;                 // of varints and numbers of fixed width
  std::span<const uint8_t> bytes;     // of strings, messages, packed numbers
  std::span<const uint8_t> encoding;  // all of it, with its tag
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::span<const uint8_t> message) : rest_(message) {}

  // False at the end, and where what follows is no field.
  bool Next(ProtobufField& field);
  bool damaged() const { return damaged_; }

 private:
  std::span<const uint8_t> rest_;
  bool damaged_ = false;
};

// A varint at the front, which is taken off; false if there is none.
bool ReadVarint(std::span<const uint8_t>& bytes, uint64_t& value);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_PROTOBUF_FIELDS_H_

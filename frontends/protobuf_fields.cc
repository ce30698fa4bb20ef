#include "frontends/protobuf_fields.h"

#include <cstddef>

namespace ember::frontends {
namespace {

// Highest number that protobuf allows for a field; a larger one means damage.
constexpr uint64_t kMaxNumber = (uint64_t{1} << 29) - 1;

bool ReadFixed(std::span<const uint8_t>& bytes, size_t size, uint64_t& value) {
  if (bytes.size() < size) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  bytes = bytes.subspan(size);
  return true;
}

}  // namespace

bool ReadVarint(std::span<const uint8_t>& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < 10 && i < bytes.size(); ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 0x7f) << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes = bytes.subspan(i + 1);
    return true;
  }
  return false;
}

bool ProtobufFields::Next(ProtobufField& field) {
  if (rest_.empty() || damaged_) return false;
  damaged_ = true;
  const std::span<const uint8_t> start = rest_;
  uint64_t tag;
  if (!ReadVarint(rest_, tag)) return false;
  field.number = tag >> 3;
  field.value = 0;
  field.bytes = {};
  if (field.number == 0 || field.number > kMaxNumber) return false;
  switch (tag & 7) {
    case 0:
      field.type = WireType::kVarint;
      if (!ReadVarint(rest_, field.value)) return false;
      break;
    case 1:
      field.type = WireType::kI64;
      if (!ReadFixed(rest_, 8, field.value)) return false;
      break;
    case 2: {
      field.type = WireType::kBytes;
      uint64_t size;
      if (!ReadVarint(rest_, size) || size > rest_.size()) return false;
      field.bytes = rest_.first(static_cast<size_t>(size));
      rest_ = rest_.subspan(static_cast<size_t>(size));
      break;
    }
    case 5:
      field.type = WireType::kI32;
      if (!ReadFixed(rest_, 4, field.value)) return false;
      break;
    default:
      return false;
  }
  field.encoding = start.first(start.size() - rest_.size());
  damaged_ = false;
  return true;
}

}  // namespace ember::frontends

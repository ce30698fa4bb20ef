#include "frontends/protobuf_view.h"

#include <cstring>

namespace ember::frontends {
namespace {

double FloatOf(uint64_t bits) {
  const auto narrow = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &narrow, sizeof(value));
  return static_cast<double>(value);
}

double DoubleOf(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Calls use(number) for each element of a packed field of numbers, which are
// little-endian and `width` bytes each. Returns false if bytes are left over.
template <typename Use>
bool ForPacked(std::span<const uint8_t> bytes, size_t width, const Use& use) {
  for (size_t i = 0; i + width <= bytes.size(); i += width) {
    uint64_t bits = 0;
    for (size_t b = 0; b < width; ++b)
      bits |= static_cast<uint64_t>(bytes[i + b]) << (8 * b);
    use(bits);
  }
  return bytes.size() % width == 0;
}

}  // namespace

template <typename Use>
void ProtobufView::ForEach(uint64_t number, const Use& use) const {
  ProtobufFields fields(bytes_);
  ProtobufField field;
  while (fields.Next(field))
    if (field.number == number) use(field);
  if (fields.damaged()) SetDamaged();
}

bool ProtobufView::Has(uint64_t number) const {
  bool found = false;
  ForEach(number, [&](const ProtobufField&) { found = true; });
  return found;
}

std::vector<uint64_t> ProtobufView::Numbers() const {
  std::vector<uint64_t> numbers;
  ProtobufFields fields(bytes_);
  ProtobufField field;
  while (fields.Next(field)) numbers.push_back(field.number);
  if (fields.damaged()) SetDamaged();
  return numbers;
}

int64_t ProtobufView::Integer(uint64_t number, int64_t otherwise) const {
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type == WireType::kBytes) return SetDamaged();
    otherwise = static_cast<int64_t>(field.value);
  });
  return otherwise;
}

double ProtobufView::Float(uint64_t number, double otherwise) const {
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type != WireType::kI32) return SetDamaged();
    otherwise = FloatOf(field.value);
  });
  return otherwise;
}

double ProtobufView::Double(uint64_t number, double otherwise) const {
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type != WireType::kI64) return SetDamaged();
    otherwise = DoubleOf(field.value);
  });
  return otherwise;
}

std::span<const uint8_t> ProtobufView::Bytes(uint64_t number) const {
  std::span<const uint8_t> bytes;
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type != WireType::kBytes) return SetDamaged();
    bytes = field.bytes;
  });
  return bytes;
}

std::string ProtobufView::Text(uint64_t number) const {
  const auto bytes = Bytes(number);
  return {bytes.begin(), bytes.end()};
}

ProtobufView ProtobufView::Message(uint64_t number) const {
  return {Bytes(number), damage_};
}

std::vector<int64_t> ProtobufView::Integers(uint64_t number) const {
  std::vector<int64_t> values;
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type == WireType::kVarint)
      values.push_back(static_cast<int64_t>(field.value));
    if (field.type != WireType::kBytes) return;
    std::span<const uint8_t> rest = field.bytes;
    while (!rest.empty()) {
      uint64_t value;
      if (!ReadVarint(rest, value)) return SetDamaged();
      values.push_back(static_cast<int64_t>(value));
    }
  });
  return values;
}

std::vector<double> ProtobufView::Floats(uint64_t number) const {
  std::vector<double> values;
  const auto add = [&](uint64_t bits) { values.push_back(FloatOf(bits)); };
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type == WireType::kI32) add(field.value);
    if (field.type == WireType::kBytes && !ForPacked(field.bytes, 4, add))
      SetDamaged();
  });
  return values;
}

std::vector<double> ProtobufView::Doubles(uint64_t number) const {
  std::vector<double> values;
  const auto add = [&](uint64_t bits) { values.push_back(DoubleOf(bits)); };
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type == WireType::kI64) add(field.value);
    if (field.type == WireType::kBytes && !ForPacked(field.bytes, 8, add))
      SetDamaged();
  });
  return values;
}

std::vector<std::string> ProtobufView::Texts(uint64_t number) const {
  std::vector<std::string> texts;
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type != WireType::kBytes) return SetDamaged();
    texts.emplace_back(field.bytes.begin(), field.bytes.end());
  });
  return texts;
}

std::vector<ProtobufView> ProtobufView::Messages(uint64_t number) const {
  std::vector<ProtobufView> messages;
  ForEach(number, [&](const ProtobufField& field) {
    if (field.type != WireType::kBytes) return SetDamaged();
    messages.emplace_back(field.bytes, damage_);
  });
  return messages;
}

}  // namespace ember::frontends

// Writes protobuf messages field by field.
//
//   Message layer;
//   layer.Text(1, "relu").Put(130, Message().Put(10, Message()));
//   model.Put(500, network).bytes();
//
// A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_COREML_TESTING_MESSAGE_H_
#define EMBER_FRONTENDS_COREML_TESTING_MESSAGE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ember::coreml {

class Message {
 public:
  const std::string& bytes() const { return bytes_; }

  Message& Integer(uint64_t field, int64_t value) {
    Varint(field << 3);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& Float(uint64_t field, float value) {
    Varint(field << 3 | 5);
    return Raw(&value, sizeof(value));
  }
  Message& Double(uint64_t field, double value) {
    Varint(field << 3 | 1);
    return Raw(&value, sizeof(value));
  }
  Message& Text(uint64_t field, const std::string& text) {
    Varint(field << 3 | 2);
    Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& Put(uint64_t field, const Message& message) {
    return Text(field, message.bytes());
  }
  Message& Integers(uint64_t field, const std::vector<int64_t>& values) {
    Message packed;
    for (const int64_t value : values)
      packed.Varint(static_cast<uint64_t>(value));
    return Put(field, packed);
  }
  Message& Floats(uint64_t field, const std::vector<float>& values) {
    Message packed;
    packed.Raw(values.data(), values.size() * sizeof(float));
    return Put(field, packed);
  }
  Message& Doubles(uint64_t field, const std::vector<double>& values) {
    Message packed;
    packed.Raw(values.data(), values.size() * sizeof(double));
    return Put(field, packed);
  }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(0x80 | (value & 0x7f));
    bytes_ += static_cast<char>(value);
  }
  Message& Raw(const void* data, size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    return *this;
  }

  std::string bytes_;
};

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_TESTING_MESSAGE_H_

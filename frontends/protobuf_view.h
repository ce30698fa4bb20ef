// Reads a protobuf message in place: its fields by number, without generated
// code and without copying large values.
//
//   const ProtobufView layer = model.Message(500).Messages(1)[0];
//   layer.Text(1);               // the first field, a string
//   layer.Message(100).Integers(20);
//
// For models whose weights must stay in a mapped file. Absent fields read as 0,
// "" or an empty message. If a field occurs twice, the last one counts; the
// plural forms return all of them, packed or not. A damaged message ends at the
// damage, and sets `damage`, which the views of the whole tree share; the code
// that made the root must check it at the end.
//
// Views do not own; thread-compatible except for `damage`.
#ifndef EMBER_FRONTENDS_PROTOBUF_VIEW_H_
#define EMBER_FRONTENDS_PROTOBUF_VIEW_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/protobuf_fields.h"

namespace ember::frontends {

class ProtobufView {
 public:
  ProtobufView() = default;
  ProtobufView(std::span<const uint8_t> bytes, bool* damage)
      : bytes_(bytes), damage_(damage) {}

  std::span<const uint8_t> bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  bool Has(uint64_t number) const;
  // Returns the numbers of all fields of the message, in the order in which
  // they occur.
  std::vector<uint64_t> Numbers() const;

  int64_t Integer(uint64_t number, int64_t otherwise = 0) const;
  bool Flag(uint64_t number) const { return Integer(number) != 0; }
  double Float(uint64_t number, double otherwise = 0) const;   // 32 bits
  double Double(uint64_t number, double otherwise = 0) const;  // 64 bits
  std::string Text(uint64_t number) const;
  std::span<const uint8_t> Bytes(uint64_t number) const;
  ProtobufView Message(uint64_t number) const;

  std::vector<int64_t> Integers(uint64_t number) const;
  std::vector<double> Floats(uint64_t number) const;
  std::vector<double> Doubles(uint64_t number) const;
  std::vector<std::string> Texts(uint64_t number) const;
  std::vector<ProtobufView> Messages(uint64_t number) const;

 private:
  // Calls use(field) for each field that has this number.
  template <typename Use>
  void ForEach(uint64_t number, const Use& use) const;
  void SetDamaged() const {
    if (damage_ != nullptr) *damage_ = true;
  }

  std::span<const uint8_t> bytes_;
  bool* damage_ = nullptr;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_PROTOBUF_VIEW_H_

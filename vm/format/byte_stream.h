// Writes numbers, texts and lists as bytes, little-endian and without padding,
// and reads them. Native sections and cache entries have this format.
//
//   ByteWriter writer;                    ByteReader reader(bytes);
//   writer.Number<uint32_t>(7);           auto n = reader.Number<uint32_t>();
//   writer.Text("x");                     std::string name = reader.Text();
//                                         if (!reader.ok()) …
//
// A reader never reads beyond its bytes. Past the end it returns zeros and
// empty texts, and ok() is false from then on. Counts are checked against the
// remaining bytes before memory is allocated for them. Not thread-safe.
#ifndef EMBER_VM_FORMAT_BYTE_STREAM_H_
#define EMBER_VM_FORMAT_BYTE_STREAM_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace ember::vm {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  template <typename T>
  void Number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Text(std::string_view text) {
    Number(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  void Bytes(std::span<const uint8_t> bytes) {
    Number(static_cast<uint32_t>(bytes.size()));
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

  template <typename T>
  T Number() {
    T value{};
    const std::span<const uint8_t> raw = Take(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string Text() {
    const std::span<const uint8_t> raw = Bytes();
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  // Reads a 32-bit count of bytes and then these bytes. Returns a view into the
  // reader's bytes.
  std::span<const uint8_t> Bytes() { return Take(Number<uint32_t>()); }
  // Reads the number of items of a list, each of which has at least item_bytes
  // bytes. If the remaining bytes cannot hold the list, the reader fails and
  // the count is 0.
  uint32_t Count(size_t item_bytes) {
    const auto count = Number<uint32_t>();
    if (count <= bytes_.size() / item_bytes) return count;
    ok_ = false;
    return 0;
  }

 private:
  std::span<const uint8_t> Take(size_t count) {
    if (!ok_ || count > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::span<const uint8_t> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const uint8_t> bytes_;
  bool ok_ = true;
};

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_BYTE_STREAM_H_

// Parses the bytes of a GGUF file; GgufFile::Open uses it.
//
//   GgufParser parser(bytes);
//   EMBER_RETURN_IF_ERROR(parser.Parse(file));
//
// Does not own the bytes. One use; not thread-safe. Errors as in gguf_file.h.
#ifndef EMBER_FRONTENDS_GGUF_GGUF_PARSER_H_
#define EMBER_FRONTENDS_GGUF_GGUF_PARSER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/byte_cursor.h"
#include "base/status.h"
#include "frontends/gguf/gguf_file.h"

namespace ember::gguf {

// Returns the bytes of a number of this type; 0 for strings and arrays, nullopt
// for a number that is no type.
std::optional<int> ValueTypeSize(uint32_t type);
// Returns a name such as "u32" for messages.
std::string_view ValueTypeName(ValueType type);

class GgufParser {
 public:
  explicit GgufParser(std::span<const uint8_t> bytes)
      : bytes_(bytes), in_(bytes) {}

  Status Parse(GgufFile& file);

 private:
  Status ReadHeader(GgufFile& file);
  Status ReadMetadata(GgufFile& file);
  Status ReadValue(std::string_view key, GgufValue& value);
  Status SkipElements(std::string_view key, ValueType type, uint64_t count);
  Status ReadTensors(GgufFile& file);
  Status ReadTensor(GgufTensor& tensor);
  Status LocateData(GgufFile& file);
  Status CheckOverlaps(const GgufFile& file) const;
  // Reads a count or a length: 32 bits in version 1, later 64.
  uint64_t Size() { return in_.Unsigned(version_ == 1 ? 4 : 8); }
  std::string_view String() { return AsText(in_.Take(Size())); }
  Status CutOff(std::string_view where) const;

  std::span<const uint8_t> bytes_;
  ByteCursor in_;
  uint32_t version_ = 0;
  uint64_t tensor_count_ = 0, entry_count_ = 0;
};

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_GGUF_PARSER_H_

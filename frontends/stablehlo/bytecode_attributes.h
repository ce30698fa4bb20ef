// Reads the attributes and types of a bytecode file by number: those of the
// dialects builtin and vhlo in their own encodings, others as text.
//
//   EMBER_ASSIGN_OR_RETURN(const Attribute value, attributes.GetAttribute(7));
//
// Each entry is read when it is first requested, and cached. Errors are one
// line with the number. Does not own the file; constants share it if it has an
// owner. Not thread-safe.
//
// Source: MLIR's documentation of its bytecode format and of builtin's codes;
// the codes of vhlo.
#ifndef EMBER_FRONTENDS_STABLEHLO_BYTECODE_ATTRIBUTES_H_
#define EMBER_FRONTENDS_STABLEHLO_BYTECODE_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/stablehlo/attribute_parser.h"
#include "frontends/stablehlo/bytecode_cursor.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

// The bytes of one attribute or type in the file.
struct EncodedEntry {
  std::string_view dialect;
  std::span<const uint8_t> bytes;
  bool is_text = false;
};

class BytecodeAttributes {
 public:
  BytecodeAttributes(std::vector<EncodedEntry> attributes,
                     std::vector<EncodedEntry> types,
                     std::vector<std::string_view> strings,
                     std::shared_ptr<const void> owner)
      : attributes_{.kind = "attribute",
                    .entries = std::move(attributes),
                    .known = {}},
        types_{.kind = "type", .entries = std::move(types), .known = {}},
        strings_(std::move(strings)),
        owner_(std::move(owner)) {}

  StatusOr<Attribute> GetAttribute(uint64_t number);
  StatusOr<Type> GetType(uint64_t number);

 private:
  template <typename T>
  struct Known {
    T value;
    Extent extent;
  };
  // The table of all attributes, or of all types, of the file.
  template <typename T>
  struct Table {
    std::string_view kind;  // "attribute"
    std::vector<EncodedEntry> entries;
    std::map<uint64_t, Known<T>> known;
  };

  // These functions work on the table of attributes and on the table of types.
  template <typename T>
  StatusOr<T> Get(Table<T>& table, uint64_t number);
  template <typename T>
  StatusOr<const Known<T>*> Find(Table<T>& table, uint64_t number);
  template <typename T>
  T Next(Table<T>& table, BytecodeCursor& cursor);
  template <typename T>
  T ReadEntry(const EncodedEntry& entry, BytecodeCursor& cursor);
  // Parses an entry that is stored as text, with the function `parse` of the
  // text parser.
  template <typename T>
  T Parsed(StatusOr<T> (AttributeParser::*parse)(), BytecodeCursor& cursor);

  // These functions read parts of the current entry. Each part counts towards
  // the extent (size and depth) of the entry.
  Attribute NextAttribute(BytecodeCursor& cursor) {
    return Next(attributes_, cursor);
  }
  Type NextType(BytecodeCursor& cursor) { return Next(types_, cursor); }
  std::string NextString(BytecodeCursor& cursor);
  std::vector<Type> NextTypes(BytecodeCursor& cursor);
  Attribute NextNumber(BytecodeCursor& cursor, bool is_float);
  Attribute NextElements(BytecodeCursor& cursor);
  Attribute NextList(BytecodeCursor& cursor);
  Attribute NextDictionary(BytecodeCursor& cursor);
  Attribute NextDenseArray(BytecodeCursor& cursor);
  Attribute NextEnum(BytecodeCursor& cursor,
                     std::span<const std::string_view> words);
  Attribute ReadBuiltin(BytecodeCursor& cursor);
  Attribute ReadVhlo(BytecodeCursor& cursor);
  Type ReadBuiltinType(BytecodeCursor& cursor);
  Type ReadVhloType(BytecodeCursor& cursor);
  Type NextTensor(BytecodeCursor& cursor);
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  Table<Attribute> attributes_;
  Table<Type> types_;
  std::vector<std::string_view> strings_;
  std::shared_ptr<const void> owner_;
  int depth_ = 0;
  Extent extent_;  // Size and depth of the entry that is being read.
  // Total size of all entries that were returned to callers.
  int64_t given_ = 0;
  Status status_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BYTECODE_ATTRIBUTES_H_

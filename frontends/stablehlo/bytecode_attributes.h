// The attributes and types of a bytecode file, by their numbers: those of the
// dialects builtin and vhlo in their own encodings, others as text.
//
//   EMBER_ASSIGN_OR_RETURN(const Attribute value, attributes.GetAttribute(7));
//
// Each is read when it is asked for first, and kept. Errors are one line with
// the number. Does not own the file, which constants share if it has an owner;
// not thread-safe.
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
#include "frontends/stablehlo/bytecode_cursor.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

// Where one is.
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
      : attributes_(std::move(attributes)),
        types_(std::move(types)),
        strings_(std::move(strings)),
        owner_(std::move(owner)) {}

  StatusOr<Attribute> GetAttribute(uint64_t number);
  StatusOr<Type> GetType(uint64_t number);

 private:
  struct KnownAttribute {
    Attribute value;
    Extent extent;
  };
  struct KnownType {
    Type value;
    Extent extent;
  };

  Status CountGiven(const Extent& extent);
  StatusOr<const KnownAttribute*> FindAttribute(uint64_t number);
  StatusOr<const KnownType*> FindType(uint64_t number);
  // Parts of what is read now; each counts.
  Attribute NextAttribute(BytecodeCursor& cursor);
  Type NextType(BytecodeCursor& cursor);
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

  std::vector<EncodedEntry> attributes_, types_;
  std::vector<std::string_view> strings_;
  std::shared_ptr<const void> owner_;
  std::map<uint64_t, KnownAttribute> known_attributes_;
  std::map<uint64_t, KnownType> known_types_;
  int depth_ = 0;
  Extent extent_;      // of what is read now
  int64_t given_ = 0;  // the size of all that was asked for
  Status status_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BYTECODE_ATTRIBUTES_H_

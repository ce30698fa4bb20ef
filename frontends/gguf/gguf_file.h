// Reads GGUF files, versions 1 to 3: typed metadata and a table of tensors.
//
//   EMBER_ASSIGN_OR_RETURN(const GgufFile file,
//                          GgufFile::Open(mapped.bytes, mapped.owner));
//   EMBER_ASSIGN_OR_RETURN(const std::string_view architecture,
//                          file.Text("general.architecture"));
//   EMBER_ASSIGN_OR_RETURN(const std::vector<std::string_view> tokens,
//                          file.Texts("tokenizer.ggml.tokens"));
//   const GgufTensor* weight = file.FindTensor("blk.0.attn_q.weight");
//
// Ownership: names, texts and tensors' bytes stay in the file's bytes; the
// object and its copies keep the owner.
//
// Errors: one line each. The file is from a stranger, so Open checks every
// size, count and offset against the bytes that there are before it uses them.
// It takes memory for the entries of the two tables only, at most kMaxEntries
// of each. Getters check types: kNotFound if there is no entry of this key,
// kInvalidArgument if it has another type. The forms that end in Or return
// another value instead of kNotFound.
//
// A tensor whose type is not in block_formats.h has no bytes, and is no error:
// the importer that needs the tensor says that its type is not supported.
//
// Immutable, thread-safe. Source: the specification of GGUF in the repository
// of ggml.
#ifndef EMBER_FRONTENDS_GGUF_GGUF_FILE_H_
#define EMBER_FRONTENDS_GGUF_GGUF_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/language_models/block_formats.h"

namespace ember::gguf {

// The types of metadata values. Columns: name, number in the file, bytes of an
// element (0 for strings and arrays, whose size varies).
// clang-format off
#define EMBER_FOR_EACH_GGUF_VALUE_TYPE(row) \
  row(U8, 0, 1) \
  row(I8, 1, 1) \
  row(U16, 2, 2) \
  row(I16, 3, 2) \
  row(U32, 4, 4) \
  row(I32, 5, 4) \
  row(F32, 6, 4) \
  row(Bool, 7, 1) \
  row(String, 8, 0) \
  row(Array, 9, 0) \
  row(U64, 10, 8) \
  row(I64, 11, 8) \
  row(F64, 12, 8)
// clang-format on

enum class ValueType : uint32_t {
#define EMBER_ROW(name, number, bytes) k##name = number,
  EMBER_FOR_EACH_GGUF_VALUE_TYPE(EMBER_ROW)
#undef EMBER_ROW
};

// A value of the metadata.
struct GgufValue {
  // Type of the value or, if it is an array, of its elements.
  ValueType type = ValueType::kU8;
  bool is_array = false;
  // Number of elements; 1 if the value is no array.
  uint64_t count = 1;
  // The value as it is in the file: the little-endian bytes of a number, the
  // characters of a string, or the elements of an array.
  std::span<const uint8_t> bytes;
};

struct GgufTensor {
  std::string_view name;
  // Number of the tensor's type in ggml, and the type's name for messages, such
  // as "Q4_0".
  uint32_t ggml_type = 0;
  std::string type_name;
  // Format of the tensor's elements; nullopt if Ember does not support the
  // type.
  std::optional<language_models::BlockFormat> format;
  // Dims, outermost first, so that the last one is contiguous. The file has
  // them in the opposite order.
  std::vector<int64_t> dims;
  // Offset of the tensor's data from the start of the file's data section, in
  // bytes.
  uint64_t offset = 0;
  // All bytes of the tensor; empty if the type is not supported.
  std::span<const uint8_t> bytes;
};

class GgufFile {
 public:
  // Largest number of entries of the metadata, and of tensors.
  static constexpr uint64_t kMaxEntries = uint64_t{1} << 16;

  // Opens a file in memory. `owner` keeps the bytes alive; it may be null if
  // the caller keeps them alive.
  static StatusOr<GgufFile> Open(std::span<const uint8_t> bytes,
                                 std::shared_ptr<const void> owner);
  // True if the contents begin as a GGUF file does.
  static bool IsGguf(std::string_view contents);

  uint32_t version() const { return version_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  const std::map<std::string_view, GgufValue>& metadata() const {
    return metadata_;
  }
  bool Has(std::string_view key) const { return metadata_.contains(key); }
  // Return a value of the metadata. Integer accepts all integer types and
  // bools; Number accepts floats, too. The forms that end in Or return
  // `otherwise` if the key is missing.
  StatusOr<int64_t> Integer(std::string_view key) const;
  StatusOr<int64_t> IntegerOr(std::string_view key, int64_t otherwise) const;
  StatusOr<double> Number(std::string_view key) const;
  StatusOr<double> NumberOr(std::string_view key, double otherwise) const;
  StatusOr<bool> Bool(std::string_view key) const;
  StatusOr<bool> BoolOr(std::string_view key, bool otherwise) const;
  StatusOr<std::string_view> Text(std::string_view key) const;
  StatusOr<std::string_view> TextOr(std::string_view key,
                                    std::string_view otherwise) const;
  // Return the elements of an array in the metadata. Integers accepts the
  // element types that Integer accepts, and Numbers those that Number accepts.
  StatusOr<std::vector<int64_t>> Integers(std::string_view key) const;
  StatusOr<std::vector<float>> Numbers(std::string_view key) const;
  StatusOr<std::vector<std::string_view>> Texts(std::string_view key) const;

  // Tensors in the order of the file.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  // Returns the tensor of this name; null if there is none.
  const GgufTensor* FindTensor(std::string_view name) const;

 private:
  friend class GgufParser;
  StatusOr<const GgufValue*> Find(std::string_view key) const;
  StatusOr<const GgufValue*> FindScalar(std::string_view key,
                                        std::string_view expected) const;
  StatusOr<const GgufValue*> FindArray(std::string_view key,
                                       std::string_view expected) const;

  std::shared_ptr<const void> owner_;
  uint32_t version_ = 0;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string_view, size_t> tensor_numbers_;
};

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_GGUF_FILE_H_

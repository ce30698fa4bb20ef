#include "frontends/gguf/gguf_file.h"

#include <bit>
#include <limits>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/gguf/gguf_parser.h"

namespace ember::gguf {
namespace {

std::string Quoted(std::string_view key) {
  return "metadata '" + OnOneLine(key) + "'";
}

Status WrongType(std::string_view key, std::string_view expected,
                 const GgufValue& value) {
  return InvalidArgumentError(Quoted(key) + ": expected " +
                              std::string(expected) + ", found " +
                              (value.is_array ? "an array of " : "") +
                              std::string(ValueTypeName(value.type)));
}

bool IsFloatType(ValueType type) {
  return type == ValueType::kF32 || type == ValueType::kF64;
}

// Reads one number of the metadata whose type is f32 or f64.
double ReadFloat(ByteCursor& in, ValueType type) {
  if (type == ValueType::kF32)
    return std::bit_cast<float>(static_cast<uint32_t>(in.Unsigned(4)));
  return std::bit_cast<double>(in.Unsigned(8));
}

// Reads one number of the metadata whose type is an integer type or bool. Fails
// for a u64 that does not fit in i64.
StatusOr<int64_t> ReadInteger(ByteCursor& in, ValueType type,
                              std::string_view key) {
  const int size = *ValueTypeSize(static_cast<uint32_t>(type));
  const uint64_t bits = in.Unsigned(size);
  switch (type) {
    case ValueType::kI8:
      return static_cast<int64_t>(static_cast<int8_t>(bits));
    case ValueType::kI16:
      return static_cast<int64_t>(static_cast<int16_t>(bits));
    case ValueType::kI32:
      return static_cast<int64_t>(static_cast<int32_t>(bits));
    case ValueType::kBool:
      return static_cast<int64_t>(bits != 0);
    case ValueType::kU64:
      if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return InvalidArgumentError(Quoted(key) +
                                    ": expected an integer below 2^63, found " +
                                    std::to_string(bits));
      }
      return static_cast<int64_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

// Returns `result`, but `otherwise` if `result` is the error that the metadata
// has no such key.
template <typename T>
StatusOr<T> Or(StatusOr<T> result, T otherwise) {
  if (result.ok() || result.status().code() != StatusCode::kNotFound)
    return result;
  return otherwise;
}

}  // namespace

StatusOr<GgufFile> GgufFile::Open(std::span<const uint8_t> bytes,
                                  std::shared_ptr<const void> owner) {
  GgufFile file;
  file.owner_ = std::move(owner);
  EMBER_RETURN_IF_ERROR(GgufParser(bytes).Parse(file));
  return file;
}

bool GgufFile::IsGguf(std::string_view contents) {
  return contents.starts_with("GGUF");
}

StatusOr<const GgufValue*> GgufFile::Find(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found != metadata_.end()) return &found->second;
  return NotFoundError(Quoted(key) + ": expected a value, found none");
}

StatusOr<const GgufValue*> GgufFile::FindScalar(
    std::string_view key, std::string_view expected) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, Find(key));
  if (value->is_array) return WrongType(key, expected, *value);
  return value;
}

StatusOr<const GgufValue*> GgufFile::FindArray(
    std::string_view key, std::string_view expected) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, Find(key));
  if (!value->is_array) return WrongType(key, expected, *value);
  return value;
}

StatusOr<int64_t> GgufFile::Integer(std::string_view key) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindScalar(key, "an integer"));
  if (value->type == ValueType::kString || IsFloatType(value->type))
    return WrongType(key, "an integer", *value);
  ByteCursor in(value->bytes);
  return ReadInteger(in, value->type, key);
}

StatusOr<int64_t> GgufFile::IntegerOr(std::string_view key,
                                      int64_t otherwise) const {
  return Or(Integer(key), otherwise);
}

StatusOr<double> GgufFile::Number(std::string_view key) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindScalar(key, "a number"));
  if (value->type == ValueType::kString)
    return WrongType(key, "a number", *value);
  ByteCursor in(value->bytes);
  if (IsFloatType(value->type)) return ReadFloat(in, value->type);
  EMBER_ASSIGN_OR_RETURN(const int64_t integer,
                         ReadInteger(in, value->type, key));
  return static_cast<double>(integer);
}

StatusOr<double> GgufFile::NumberOr(std::string_view key,
                                    double otherwise) const {
  return Or(Number(key), otherwise);
}

StatusOr<bool> GgufFile::Bool(std::string_view key) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindScalar(key, "a bool"));
  if (value->type != ValueType::kBool) return WrongType(key, "a bool", *value);
  return value->bytes[0] != 0;
}

StatusOr<bool> GgufFile::BoolOr(std::string_view key, bool otherwise) const {
  return Or(Bool(key), otherwise);
}

StatusOr<std::string_view> GgufFile::Text(std::string_view key) const {
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindScalar(key, "a string"));
  if (value->type != ValueType::kString)
    return WrongType(key, "a string", *value);
  return AsText(value->bytes);
}

StatusOr<std::string_view> GgufFile::TextOr(std::string_view key,
                                            std::string_view otherwise) const {
  return Or(Text(key), otherwise);
}

StatusOr<std::vector<int64_t>> GgufFile::Integers(std::string_view key) const {
  constexpr std::string_view kExpected = "an array of integers";
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindArray(key, kExpected));
  if (value->type == ValueType::kString || IsFloatType(value->type))
    return WrongType(key, kExpected, *value);
  std::vector<int64_t> elements;
  ByteCursor in(value->bytes);
  for (uint64_t i = 0; i < value->count; ++i) {
    EMBER_ASSIGN_OR_RETURN(const int64_t element,
                           ReadInteger(in, value->type, key));
    elements.push_back(element);
  }
  return elements;
}

StatusOr<std::vector<float>> GgufFile::Numbers(std::string_view key) const {
  constexpr std::string_view kExpected = "an array of numbers";
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindArray(key, kExpected));
  if (value->type == ValueType::kString)
    return WrongType(key, kExpected, *value);
  std::vector<float> elements;
  ByteCursor in(value->bytes);
  for (uint64_t i = 0; i < value->count; ++i) {
    if (IsFloatType(value->type)) {
      elements.push_back(static_cast<float>(ReadFloat(in, value->type)));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(const int64_t element,
                           ReadInteger(in, value->type, key));
    elements.push_back(static_cast<float>(element));
  }
  return elements;
}

StatusOr<std::vector<std::string_view>> GgufFile::Texts(
    std::string_view key) const {
  constexpr std::string_view kExpected = "an array of strings";
  EMBER_ASSIGN_OR_RETURN(const GgufValue* value, FindArray(key, kExpected));
  if (value->type != ValueType::kString)
    return WrongType(key, kExpected, *value);
  std::vector<std::string_view> elements;
  ByteCursor in(value->bytes);
  const int length_size = version_ == 1 ? 4 : 8;
  for (uint64_t i = 0; i < value->count; ++i)
    elements.push_back(AsText(in.Take(in.Unsigned(length_size))));
  return elements;
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  const auto found = tensor_numbers_.find(name);
  return found == tensor_numbers_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace ember::gguf

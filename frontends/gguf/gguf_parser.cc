#include "frontends/gguf/gguf_parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/one_line.h"

namespace ember::gguf {
namespace {

using language_models::BlockFormat;

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
constexpr uint64_t kMaxName = uint64_t{1} << 16;
constexpr uint64_t kMaxRank = 4;

// Types of ggml that are not in the table of block formats, by their number,
// for messages.
constexpr std::string_view kOtherTypes[] = {
    "",        "",         "",         "",         "Q4_2",    "Q4_3",
    "",        "",         "",         "Q8_1",     "",        "",
    "",        "",         "",         "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S",    "",         "IQ3_S",    "IQ2_S",   "",
    "I8",      "I16",      "I32",      "I64",      "F64",     "IQ1_M",
    "",        "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0"};

std::string TypeName(uint32_t type) {
  if (const auto format = language_models::BlockFormatOfGgml(type))
    return std::string(InfoOf(*format).name);
  if (type < std::size(kOtherTypes) && !kOtherTypes[type].empty())
    return std::string(kOtherTypes[type]);
  return "number " + std::to_string(type);
}

std::string Quoted(std::string_view name) {
  return "'" + OnOneLine(name.substr(0, 200)) + "'";
}

}  // namespace

std::optional<int> ValueTypeSize(uint32_t type) {
  switch (type) {
#define EMBER_ROW(name, number, bytes) \
  case number:                         \
    return bytes;
    EMBER_FOR_EACH_GGUF_VALUE_TYPE(EMBER_ROW)
#undef EMBER_ROW
    default:
      return std::nullopt;
  }
}

std::string_view ValueTypeName(ValueType type) {
  switch (type) {
#define EMBER_ROW(name, number, bytes) \
  case ValueType::k##name:             \
    return #name;
    EMBER_FOR_EACH_GGUF_VALUE_TYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  return "";
}

Status GgufParser::CutOff(std::string_view where) const {
  return DataLossError("GGUF file: expected more bytes in " +
                       std::string(where) + ", found the end of the file at " +
                       std::to_string(bytes_.size()) +
                       " bytes; it is cut short or damaged: download it again");
}

Status GgufParser::Parse(GgufFile& file) {
  EMBER_RETURN_IF_ERROR(ReadHeader(file));
  EMBER_RETURN_IF_ERROR(ReadMetadata(file));
  EMBER_RETURN_IF_ERROR(ReadTensors(file));
  EMBER_RETURN_IF_ERROR(LocateData(file));
  return CheckOverlaps(file);
}

Status GgufParser::ReadHeader(GgufFile& file) {
  if (!in_.Matches(kMagic)) {
    return DataLossError(
        "GGUF file: expected the magic GGUF at its begin, found another");
  }
  const auto version = static_cast<uint32_t>(in_.Unsigned(4));
  if (!in_.ok()) return CutOff("the header");
  if (version != 0 && (version & 0xffff) == 0) {
    return UnimplementedError(
        "GGUF file: expected little-endian numbers, found a big-endian file; "
        "convert it with gguf_convert_endian.py FILE little");
  }
  if (version < 1 || version > 3) {
    return UnimplementedError(
        "GGUF file: expected version 1, 2 or 3, found version " +
        std::to_string(version));
  }
  file.version_ = version_ = version;
  tensor_count_ = Size();
  entry_count_ = Size();
  if (!in_.ok()) return CutOff("the header");
  for (const uint64_t count : {tensor_count_, entry_count_}) {
    if (count <= GgufFile::kMaxEntries) continue;
    return ResourceExhaustedError(
        "GGUF file: expected at most " + std::to_string(GgufFile::kMaxEntries) +
        " tensors and entries of metadata, found " + std::to_string(count));
  }
  return OkStatus();
}

Status GgufParser::ReadMetadata(GgufFile& file) {
  for (uint64_t i = 0; i < entry_count_; ++i) {
    const std::string_view key = String();
    GgufValue value;
    if (!in_.ok()) return CutOff("metadata");
    if (key.size() > kMaxName)
      return DataLossError("GGUF file: expected a key of at most 65536 bytes");
    EMBER_RETURN_IF_ERROR(ReadValue(key, value));
    if (!file.metadata_.emplace(key, value).second) {
      return DataLossError("GGUF file: expected each key once, found " +
                           Quoted(key) + " twice");
    }
  }
  return OkStatus();
}

Status GgufParser::ReadValue(std::string_view key, GgufValue& value) {
  auto type = static_cast<uint32_t>(in_.Unsigned(4));
  if (type == static_cast<uint32_t>(ValueType::kArray)) {
    value.is_array = true;
    type = static_cast<uint32_t>(in_.Unsigned(4));
    value.count = Size();
  }
  if (!in_.ok()) return CutOff("metadata " + Quoted(key));
  if (!ValueTypeSize(type)) {
    return DataLossError("GGUF file: metadata " + Quoted(key) +
                         ": expected a type from 0 to 12, found " +
                         std::to_string(type));
  }
  value.type = static_cast<ValueType>(type);
  if (value.type == ValueType::kArray) {
    return UnimplementedError("GGUF file: metadata " + Quoted(key) +
                              ": expected an array of numbers or strings, "
                              "found an array of arrays");
  }
  if (!value.is_array && value.type == ValueType::kString) {
    value.bytes = AsBytes(String());
    return in_.ok() ? OkStatus() : CutOff("metadata " + Quoted(key));
  }
  const uint64_t begin = in_.position();
  EMBER_RETURN_IF_ERROR(SkipElements(key, value.type, value.count));
  value.bytes = bytes_.subspan(static_cast<size_t>(begin),
                               static_cast<size_t>(in_.position() - begin));
  return OkStatus();
}

// Skips the elements of a value and checks that the file has all of them.
Status GgufParser::SkipElements(std::string_view key, ValueType type,
                                uint64_t count) {
  const auto size =
      static_cast<uint64_t>(*ValueTypeSize(static_cast<uint32_t>(type)));
  if (size > 0) {
    if (count > in_.remaining() / size)
      return CutOff("metadata " + Quoted(key));
    in_.Skip(count * size);
    return OkStatus();
  }
  // Each string takes the bytes of its length at least, so that the end of the
  // file bounds the number of iterations.
  for (uint64_t i = 0; i < count && in_.ok(); ++i) String();
  return in_.ok() ? OkStatus() : CutOff("metadata " + Quoted(key));
}

Status GgufParser::ReadTensors(GgufFile& file) {
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    GgufTensor tensor;
    EMBER_RETURN_IF_ERROR(ReadTensor(tensor));
    if (!file.tensor_numbers_.emplace(tensor.name, file.tensors_.size())
             .second) {
      return DataLossError("GGUF file: expected each tensor once, found " +
                           Quoted(tensor.name) + " twice");
    }
    file.tensors_.push_back(std::move(tensor));
  }
  return OkStatus();
}

Status GgufParser::ReadTensor(GgufTensor& tensor) {
  tensor.name = String();
  if (!in_.ok()) return CutOff("the table of tensors");
  if (tensor.name.size() > kMaxName) {
    return DataLossError(
        "GGUF file: expected a tensor's name of at most 65536 bytes");
  }
  const uint64_t rank = in_.Unsigned(4);
  if (!in_.ok()) return CutOff("tensor " + Quoted(tensor.name));
  if (rank > kMaxRank) {
    return DataLossError("GGUF file: tensor " + Quoted(tensor.name) +
                         ": expected at most 4 dims, found " +
                         std::to_string(rank));
  }
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t dim = Size();
    if (in_.ok() && (dim < 1 || dim > uint64_t{1} << 40)) {
      return DataLossError("GGUF file: tensor " + Quoted(tensor.name) +
                           ": expected dims from 1 to 2^40, found " +
                           std::to_string(dim));
    }
    tensor.dims.insert(tensor.dims.begin(), static_cast<int64_t>(dim));
  }
  tensor.ggml_type = static_cast<uint32_t>(in_.Unsigned(4));
  tensor.offset = in_.Unsigned(8);
  if (!in_.ok()) return CutOff("tensor " + Quoted(tensor.name));
  tensor.type_name = TypeName(tensor.ggml_type);
  tensor.format = language_models::BlockFormatOfGgml(tensor.ggml_type);
  return OkStatus();
}

Status GgufParser::LocateData(GgufFile& file) {
  if (file.tensors_.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const int64_t alignment,
                         file.IntegerOr("general.alignment", 32));
  const auto step = static_cast<uint64_t>(alignment);
  if (alignment < 1 || step > kMaxAlignment || (step & (step - 1)) != 0) {
    return DataLossError(
        "GGUF file: metadata 'general.alignment': expected a power of two up "
        "to 2^20, found " +
        std::to_string(alignment));
  }
  const uint64_t begin = (in_.position() + step - 1) / step * step;
  const uint64_t available = begin > bytes_.size() ? 0 : bytes_.size() - begin;
  for (GgufTensor& tensor : file.tensors_) {
    if (tensor.offset % step != 0) {
      return DataLossError("GGUF file: tensor " + Quoted(tensor.name) +
                           ": expected an offset that is a multiple of " +
                           std::to_string(step) + ", found " +
                           std::to_string(tensor.offset));
    }
    if (!tensor.format) continue;
    const std::optional<int64_t> size = ByteSize(*tensor.format, tensor.dims);
    if (!size) {
      return DataLossError("GGUF file: tensor " + Quoted(tensor.name) +
                           ": expected a row of whole blocks of " +
                           std::to_string(InfoOf(*tensor.format).elements) +
                           " elements (type " + tensor.type_name +
                           ") and a size below 2^63");
    }
    if (tensor.offset > available ||
        static_cast<uint64_t>(*size) > available - tensor.offset) {
      return CutOff("tensor " + Quoted(tensor.name));
    }
    tensor.bytes = bytes_.subspan(static_cast<size_t>(begin + tensor.offset),
                                  static_cast<size_t>(*size));
  }
  return OkStatus();
}

Status GgufParser::CheckOverlaps(const GgufFile& file) const {
  std::vector<const GgufTensor*> order;
  for (const GgufTensor& tensor : file.tensors_)
    if (!tensor.bytes.empty()) order.push_back(&tensor);
  std::ranges::sort(order, {}, &GgufTensor::offset);
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = *order[i - 1];
    if (before.offset + before.bytes.size() <= order[i]->offset) continue;
    return DataLossError("GGUF file: tensors " + Quoted(before.name) + " and " +
                         Quoted(order[i]->name) +
                         ": expected separate data, found an overlap");
  }
  return OkStatus();
}

}  // namespace ember::gguf

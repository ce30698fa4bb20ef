#include "frontends/coreml/mil_values.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_cursor.h"
#include "base/checked_math.h"
#include "frontends/model_bytes.h"

namespace ember::coreml {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr int64_t kStringType = 2;

std::optional<DType> TypeOf(int64_t number) {
  switch (number) {
    case 1:
      return DType::kBool;
    case 10:
      return DType::kF16;
    case 11:
      return DType::kF32;
    case 12:
      return DType::kF64;
    case 13:
      return DType::kBF16;
    case 21:
      return DType::kI8;
    case 22:
      return DType::kI16;
    case 23:
      return DType::kI32;
    case 24:
      return DType::kI64;
    case 31:
      return DType::kU8;
    case 32:
      return DType::kU16;
    case 33:
      return DType::kU32;
    case 34:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

// Returns the bits of types narrower than a byte; 0 for other types.
int64_t NarrowBitsOf(int64_t number) {
  switch (number) {
    case 25:
    case 35:
      return 4;
    case 36:
      return 2;
    case 37:
      return 1;
    case 38:
      return 6;
    case 39:
      return 3;
    default:
      return 0;
  }
}
constexpr int64_t kInt4 = 25;

// Unpacks numbers of `bits` bits to one byte each. The first number of a byte
// is in its lowest bits.
std::vector<uint8_t> Unpacked(Bytes packed, int64_t count, int64_t bits,
                              bool is_signed) {
  std::vector<uint8_t> numbers(static_cast<size_t>(count));
  const uint32_t sign = is_signed ? 1u << (bits - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t value = BitsAt(packed, i, bits);
    // Extends the sign of a narrow number to the whole byte.
    numbers[static_cast<size_t>(i)] =
        static_cast<uint8_t>((value ^ sign) - sign);
  }
  return numbers;
}

// Encodes the numbers of any field of TensorValue as bytes of the type.
std::string Encoded(const ProtobufView& tensor, DType dtype) {
  std::string bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const double value : tensor.Message(1).Floats(1))
    add(static_cast<float>(value));
  for (const uint64_t field : {2, 5}) {
    for (const int64_t value : tensor.Message(field).Integers(1)) {
      // Appends the low bytes of the value, as many as the type has.
      bytes.append(reinterpret_cast<const char*>(&value),
                   static_cast<size_t>(DTypeByteSize(dtype)));
    }
  }
  for (const int64_t value : tensor.Message(3).Integers(1))
    add(static_cast<uint8_t>(value != 0));
  for (const double value : tensor.Message(6).Doubles(1)) add(value);
  const Bytes raw = tensor.Message(7).Bytes(1);
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  return bytes;
}

// Returns a blob's bytes. A header of 64 bytes (sentinel, type, size, offset)
// is at the offset that the program gives.
StatusOr<Bytes> FindBlob(Bytes file, uint64_t offset) {
  constexpr uint64_t kHeader = 64;
  constexpr uint32_t kSentinel = 0xdeadbeef;
  const auto missing = [&] {
    return DataLossError("weights: expected a blob at byte " +
                         std::to_string(offset) + " of " +
                         std::to_string(file.size()) + ", found none");
  };
  if (offset > file.size() || file.size() - offset < kHeader) return missing();
  uint32_t sentinel;
  uint64_t size, place;
  std::memcpy(&sentinel, &file[offset], sizeof(sentinel));
  std::memcpy(&size, &file[offset + 8], sizeof(size));
  std::memcpy(&place, &file[offset + 16], sizeof(place));
  if (sentinel != kSentinel || place > file.size() ||
      size > file.size() - place)
    return missing();
  return file.subspan(place, size);
}

}  // namespace

ProtobufView Entry(const ProtobufView& message, uint64_t field,
                   std::string_view key) {
  for (const ProtobufView& entry : message.Messages(field))
    if (entry.Text(1) == key) return entry.Message(2);
  return {};
}

ValueType ReadType(const ProtobufView& type) {
  const ProtobufView tensor = type.Message(1);
  ValueType result;
  result.data_type = tensor.Integer(1);
  result.dtype = TypeOf(result.data_type);
  result.narrow_bits = NarrowBitsOf(result.data_type);
  if (result.narrow_bits > 0)
    result.dtype = result.data_type == kInt4 ? DType::kI8 : DType::kU8;
  for (const ProtobufView& dim : tensor.Messages(3))
    result.dims.push_back(dim.Has(1) ? dim.Message(1).Integer(1) : -1);
  return result;
}

Items ItemsOf(const ProtobufView& value) {
  const bool is_list = value.Message(2).Has(2);
  Items items;
  for (const ProtobufView& item : is_list
                                      ? value.Message(3).Message(3).Messages(1)
                                      : std::vector<ProtobufView>{value}) {
    const ProtobufView tensor = item.Message(3).Message(1);
    for (std::string& text : tensor.Message(4).Texts(1))
      items.texts.push_back(std::move(text));
    for (const uint64_t field : {2, 5}) {
      for (const int64_t number : tensor.Message(field).Integers(1))
        items.integers.push_back(number);
    }
  }
  return items;
}

StatusOr<MilValue> ReadValue(ModelContext& context,
                             graph::GraphBuilder& builder,
                             const ProtobufView& value) {
  const ValueType type = ReadType(value.Message(2));
  const ProtobufView tensor = value.Message(3).Message(1);
  if (type.data_type == kStringType) {
    std::vector<std::string> texts = tensor.Message(4).Texts(1);
    const std::string text = texts.size() == 1 ? texts[0] : "";
    return MilValue{.text = text, .texts = std::move(texts)};
  }
  // A value without a tensor type is read as a list of integers or texts.
  // Operations that take other kinds of values are refused by name.
  if (!value.Message(2).Has(1)) {
    Items items = ItemsOf(value);
    MilValue list;
    if (!items.integers.empty())
      list.tensor = Tensor(&builder, builder.Integers(items.integers));
    list.texts = std::move(items.texts);
    return list;
  }
  if (!type.dtype) {
    return UnimplementedError("a constant of type " +
                              std::to_string(type.data_type) +
                              " is not supported");
  }
  std::optional<int64_t> count = 1;
  for (const int64_t dim : type.dims) {
    if (dim < 0) return DataLossError("a constant of unknown dims");
    if (count) count = CheckedMultiply(*count, dim);
  }
  const std::optional<int64_t> numbers = count;
  const int64_t bits =
      type.narrow_bits > 0 ? type.narrow_bits : 8 * DTypeByteSize(*type.dtype);
  if (count) count = CheckedMultiply(*count, bits);
  if (count && *count <= std::numeric_limits<int64_t>::max() - 7) {
    count = (*count + 7) / 8;
  } else {
    count = std::nullopt;
  }
  graph::ConstantData data;
  if (value.Has(5)) {
    EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           context.model.WeightsFile(value.Message(5).Text(1)));
    EMBER_ASSIGN_OR_RETURN(
        const Bytes bytes,
        FindBlob(file->bytes(),
                 static_cast<uint64_t>(value.Message(5).Integer(2))));
    data = frontends::AlignedData(
        bytes, static_cast<size_t>(DTypeByteSize(*type.dtype)), file);
  } else {
    const std::string bytes = Encoded(tensor, *type.dtype);
    data = graph::ConstantData::Copy(AsBytes(bytes));
  }
  if (count != static_cast<int64_t>(data.bytes.size())) {
    return DataLossError(
        "a constant: expected " +
        (count ? std::to_string(*count) : std::string("absurdly many")) +
        " bytes, found " + std::to_string(data.bytes.size()));
  }
  if (type.narrow_bits > 0) {
    const std::vector<uint8_t> whole =
        Unpacked(data.bytes, *numbers, bits, type.data_type == kInt4);
    data = graph::ConstantData::Copy(whole);
  }
  return MilValue{
      .tensor =
          Tensor(&builder, builder.Constant(*type.dtype, type.dims, data))};
}

}  // namespace ember::coreml

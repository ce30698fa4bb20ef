#include "frontends/onnx/node/tensor_proto.h"

#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "base/file.h"

namespace ember::onnx {
namespace {

struct TypeRow {
  int32_t onnx;
  DType dtype;
  // Number of bits of an element in the file, if the ONNX type has no dtype of
  // its own; else 0.
  int carried_bits;
};

constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, DType::kF32, 0},
    {TensorProto::UINT8, DType::kU8, 0},
    {TensorProto::INT8, DType::kI8, 0},
    {TensorProto::UINT16, DType::kU16, 0},
    {TensorProto::INT16, DType::kI16, 0},
    {TensorProto::INT32, DType::kI32, 0},
    {TensorProto::INT64, DType::kI64, 0},
    {TensorProto::BOOL, DType::kBool, 0},
    {TensorProto::FLOAT16, DType::kF16, 0},
    {TensorProto::DOUBLE, DType::kF64, 0},
    {TensorProto::UINT32, DType::kU32, 0},
    {TensorProto::UINT64, DType::kU64, 0},
    {TensorProto::BFLOAT16, DType::kBF16, 0},
    {TensorProto::FLOAT8E4M3FN, DType::kF8E4M3FN, 0},
    {TensorProto::FLOAT8E5M2, DType::kF8E5M2, 0},
    {TensorProto::UINT4, DType::kU8, 4},
    {TensorProto::INT4, DType::kI8, 4},
    {TensorProto::UINT2, DType::kU8, 2},
    {TensorProto::INT2, DType::kI8, 2},
    {TensorProto::FLOAT4E2M1, DType::kU8, 4},
    {TensorProto::FLOAT8E4M3FNUZ, DType::kU8, 8},
    {TensorProto::FLOAT8E5M2FNUZ, DType::kU8, 8},
    {TensorProto::FLOAT8E8M0, DType::kU8, 8},
    {TensorProto::STRING, DType::kI64, 64},
};

const TypeRow* FindType(int32_t data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.onnx == data_type) return &row;
  }
  return nullptr;
}

Status UnsupportedType(int32_t data_type) {
  return UnimplementedError("element type " + OnnxTypeName(data_type) +
                            " is not supported");
}

std::string Named(const TensorProto& proto) {
  return "tensor '" + proto.name() + "'";
}

StatusOr<int64_t> CountElements(const TensorProto& proto) {
  int64_t count = 1;
  for (int64_t dim : proto.dims()) {
    std::optional<int64_t> product =
        dim < 0 ? std::nullopt : CheckedMultiply(count, dim);
    if (!product) {
      return InvalidArgumentError(
          Named(proto) + ": expected non-negative dims whose product fits " +
          "64 bits, found " + std::to_string(dim));
    }
    count = *product;
  }
  return count;
}

Status WrongSize(const TensorProto& proto, int64_t expected, int64_t found,
                 const char* unit) {
  return InvalidArgumentError(Named(proto) + ": expected " +
                              std::to_string(expected) + " " + unit +
                              " for its dims, found " + std::to_string(found));
}

// Stores `bytes` in the tensor, which then keeps them alive itself.
void Own(TensorBytes& tensor, std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  tensor.bytes = *owner;
  tensor.owner = std::move(owner);
}

// Unpacks elements of 2 or 4 bits to a byte each. The first element of a packed
// byte is in the lowest bits.
std::vector<uint8_t> Unpack(std::span<const uint8_t> packed, int64_t count,
                            int bits, bool is_signed) {
  const int per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  std::vector<uint8_t> elements(count);
  for (int64_t i = 0; i < count; ++i) {
    const int value = (packed[i / per_byte] >> (i % per_byte * bits)) & mask;
    const bool negative = is_signed && value >> (bits - 1) != 0;
    elements[i] = static_cast<uint8_t>(negative ? value - mask - 1 : value);
  }
  return elements;
}

// Returns the number of bytes that the elements have in the file; nullopt if it
// overflows.
std::optional<int64_t> PackedSize(const TypeRow& row, int64_t count) {
  if (row.carried_bits == 0)
    return CheckedMultiply(count, DTypeByteSize(row.dtype));
  const int64_t per_byte = 8 / row.carried_bits;
  return count / per_byte + (count % per_byte != 0 ? 1 : 0);
}

template <typename Storage, typename Field>
std::vector<uint8_t> ElementsAs(const Field& field) {
  std::vector<uint8_t> bytes(field.size() * sizeof(Storage));
  for (int i = 0; i < field.size(); ++i) {
    const Storage value = static_cast<Storage>(field.Get(i));
    std::memcpy(bytes.data() + i * sizeof(Storage), &value, sizeof(Storage));
  }
  return bytes;
}

// Reads the elements from the typed field that ONNX assigns to the type.
std::vector<uint8_t> FromTypedField(const TensorProto& proto, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return ElementsAs<float>(proto.float_data());
    case DType::kF64:
      return ElementsAs<double>(proto.double_data());
    case DType::kI64:
      return ElementsAs<int64_t>(proto.int64_data());
    case DType::kU32:
      return ElementsAs<uint32_t>(proto.uint64_data());
    case DType::kU64:
      return ElementsAs<uint64_t>(proto.uint64_data());
    case DType::kI32:
      return ElementsAs<int32_t>(proto.int32_data());
    case DType::kI16:
      return ElementsAs<int16_t>(proto.int32_data());
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return ElementsAs<uint16_t>(proto.int32_data());
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return ElementsAs<uint8_t>(proto.int32_data());
  }
  return {};
}

struct ExternalRange {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;
};

StatusOr<int64_t> ParseSize(const TensorProto& proto, const std::string& key,
                            const std::string& text) {
  int64_t value = 0;
  bool valid = !text.empty();
  for (char c : text) {
    valid = valid && c >= '0' && c <= '9' && value <= (INT64_MAX - 9) / 10;
    if (valid) value = value * 10 + (c - '0');
  }
  if (valid) return value;
  return InvalidArgumentError(Named(proto) +
                              ": external data: expected a number for '" + key +
                              "', found '" + text + "'");
}

StatusOr<ExternalRange> ExternalRangeOf(const TensorProto& proto) {
  ExternalRange range;
  for (const StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      range.location = entry.value();
    } else if (entry.key() == "offset") {
      EMBER_ASSIGN_OR_RETURN(range.offset,
                             ParseSize(proto, entry.key(), entry.value()));
    } else if (entry.key() == "length") {
      EMBER_ASSIGN_OR_RETURN(range.length,
                             ParseSize(proto, entry.key(), entry.value()));
    }
  }
  return range;
}

// Finds the elements of a tensor in raw data or an external file, and sets the
// tensor's `owner` and `bytes`. Elements of less than 8 bits stay packed.
Status FindBytes(const TensorProto& proto, std::shared_ptr<const void> owner,
                 ExternalFiles* files, int64_t expected_bytes,
                 TensorBytes& tensor) {
  if (proto.data_location() == TensorProto::EXTERNAL) {
    if (files == nullptr) {
      return InvalidArgumentError(Named(proto) +
                                  ": external data is not allowed here");
    }
    EMBER_ASSIGN_OR_RETURN(ExternalRange range, ExternalRangeOf(proto));
    if (range.length < 0) range.length = expected_bytes;
    auto data = files->Read(range.location, range.offset, range.length);
    if (!data.ok()) return data.status().WithContext(Named(proto));
    tensor.owner = std::move(data->owner);
    tensor.bytes = data->bytes;
    return OkStatus();
  }
  const std::string& raw = proto.raw_data();
  tensor.bytes = {reinterpret_cast<const uint8_t*>(raw.data()), raw.size()};
  tensor.owner = std::move(owner);
  return OkStatus();
}

// Reads the elements of a tensor of strings. A file can hold them only in the
// field string_data; other storage is an error.
Status ReadStrings(const TensorProto& proto, int64_t count,
                   TensorBytes& tensor) {
  if (proto.string_data_size() != count || proto.has_raw_data() ||
      proto.data_location() == TensorProto::EXTERNAL) {
    return WrongSize(proto, count, proto.string_data_size(), "strings");
  }
  tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
  return OkStatus();
}

bool HasTypedField(const TensorProto& proto) {
  return proto.float_data_size() + proto.double_data_size() +
             proto.int32_data_size() + proto.int64_data_size() +
             proto.uint64_data_size() >
         0;
}

}  // namespace

std::string OnnxTypeName(int32_t data_type) {
  if (TensorProto::DataType_IsValid(data_type)) {
    return TensorProto::DataType_Name(
        static_cast<TensorProto::DataType>(data_type));
  }
  return std::to_string(data_type);
}

StatusOr<DType> DTypeFromOnnx(int32_t data_type) {
  const TypeRow* row = FindType(data_type);
  if (row == nullptr || row->carried_bits != 0)
    return UnsupportedType(data_type);
  return row->dtype;
}

StatusOr<DType> StorageFromOnnx(int32_t data_type) {
  const TypeRow* row = FindType(data_type);
  if (row == nullptr) return UnsupportedType(data_type);
  return row->dtype;
}

bool IsCarriedType(int32_t data_type) {
  const TypeRow* row = FindType(data_type);
  return row != nullptr && row->carried_bits != 0;
}

int32_t DTypeToOnnx(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.onnx;
  }
  EMBER_CHECK(false) << "dtype " << DTypeName(dtype);
  return 0;
}

StatusOr<TensorBytes> DecodeTensor(const TensorProto& proto,
                                   std::shared_ptr<const void> owner,
                                   ExternalFiles* files) {
  const TypeRow* row = FindType(proto.data_type());
  if (row == nullptr)
    return UnsupportedType(proto.data_type()).WithContext(Named(proto));
  TensorBytes tensor;
  tensor.name = proto.name();
  tensor.dtype = row->dtype;
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  EMBER_ASSIGN_OR_RETURN(const int64_t count, CountElements(proto));
  if (row->carried_bits != 0) tensor.carried_type = row->onnx;
  if (tensor.is_strings()) {
    EMBER_RETURN_IF_ERROR(ReadStrings(proto, count, tensor));
    return tensor;
  }
  const std::optional<int64_t> expected = PackedSize(*row, count);
  if (!expected) return WrongSize(proto, count, 0, "elements");

  const bool typed = proto.data_location() != TensorProto::EXTERNAL &&
                     proto.raw_data().empty() && HasTypedField(proto);
  if (typed) {
    Own(tensor, FromTypedField(proto, tensor.dtype));
  } else {
    const bool copy = owner == nullptr;
    EMBER_RETURN_IF_ERROR(
        FindBytes(proto, std::move(owner), files, *expected, tensor));
    // A file may hold elements at an unaligned offset: the specification only
    // advises alignment. Such elements are copied.
    const bool aligned = reinterpret_cast<uintptr_t>(tensor.bytes.data()) %
                             DTypeByteSize(row->dtype) ==
                         0;
    if ((copy && tensor.owner == nullptr) || !aligned) {
      Own(tensor,
          std::vector<uint8_t>(tensor.bytes.begin(), tensor.bytes.end()));
    }
  }
  const int64_t found = static_cast<int64_t>(tensor.bytes.size());
  if (found != *expected) return WrongSize(proto, *expected, found, "bytes");
  if (row->carried_bits != 0 && row->carried_bits < 8) {
    Own(tensor,
        Unpack(tensor.bytes, count, row->carried_bits, IsSigned(row->dtype)));
  }
  return tensor;
}

StatusOr<TensorBytes> ParseTensor(std::span<const uint8_t> serialized) {
  auto proto = std::make_shared<TensorProto>();
  if (serialized.size() > INT32_MAX ||
      !proto->ParseFromArray(serialized.data(),
                             static_cast<int>(serialized.size()))) {
    return DataLossError("expected a serialized ONNX TensorProto of " +
                         std::to_string(serialized.size()) +
                         " bytes, found something else");
  }
  const TensorProto& contents = *proto;
  return DecodeTensor(contents, std::move(proto), nullptr);
}

StatusOr<TensorBytes> ReadTensorFile(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  StatusOr<TensorBytes> tensor = ParseTensor(file.bytes());
  if (!tensor.ok()) return tensor.status().WithContext("file '" + path + "'");
  return tensor;
}

std::string SerializeTensor(std::string_view name, DType dtype,
                            std::span<const int64_t> dims,
                            std::span<const uint8_t> bytes) {
  TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(DTypeToOnnx(dtype));
  for (int64_t dim : dims) proto.add_dims(dim);
  proto.set_raw_data(bytes.data(), bytes.size());
  return proto.SerializeAsString();
}

std::string SerializeStrings(std::string_view name,
                             std::span<const int64_t> dims,
                             std::span<const std::string> strings) {
  TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(TensorProto::STRING);
  for (int64_t dim : dims) proto.add_dims(dim);
  for (const std::string& text : strings) proto.add_string_data(text);
  return proto.SerializeAsString();
}

}  // namespace ember::onnx

#include "frontends/tensorflow/constants.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_cursor.h"
#include "frontends/model_bytes.h"
#include "frontends/tensorflow/data_types.h"

namespace ember::tensorflow {
namespace {

using graph::ConstantData;
using ops::Tensor;

// Largest number of bytes of a tensor that is given as a list of several
// values, the last of which is repeated.
constexpr int64_t kMaxFilledBytes = int64_t{1} << 28;

Status WrongCount(int64_t expected, int64_t found) {
  return DataLossError("constant: expected " + std::to_string(expected) +
                       " values, found " + std::to_string(found));
}

// Fills a tensor from a list. The last value is repeated; an empty list means
// zeros. `stride`: number of list values per element (2 for complex numbers).
// `part`: index of the one to use.
template <typename To, typename List>
StatusOr<ConstantData> Filled(const List& values, int64_t count, int stride = 1,
                              int part = 0) {
  const int64_t given = values.size() / stride;
  if (given > count || values.size() % stride != 0)
    return WrongCount(count, given);
  if (count > kMaxFilledBytes / static_cast<int64_t>(sizeof(To)))
    return ResourceExhaustedError("constant: expected at most 256 MB");
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * sizeof(To));
  for (int64_t i = 0; i < count && given > 0; ++i) {
    const auto from = static_cast<int>(std::min(i, given - 1) * stride + part);
    const To value = static_cast<To>(values.Get(from));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(To), &value,
                sizeof(To));
  }
  return ConstantData::Copy(bytes);
}

StatusOr<ConstantData> FromList(const TensorProto& proto, int64_t count) {
  switch (WithoutReference(proto.dtype())) {
    case DT_FLOAT:
      return Filled<float>(proto.float_val(), count);
    case DT_DOUBLE:
      return Filled<double>(proto.double_val(), count);
    case DT_INT64:
      return Filled<int64_t>(proto.int64_val(), count);
    case DT_INT32:
    case DT_QINT32:
      return Filled<int32_t>(proto.int_val(), count);
    case DT_INT16:
    case DT_QINT16:
      return Filled<int16_t>(proto.int_val(), count);
    case DT_UINT16:
    case DT_QUINT16:
      return Filled<uint16_t>(proto.int_val(), count);
    case DT_INT8:
    case DT_QINT8:
      return Filled<int8_t>(proto.int_val(), count);
    case DT_UINT8:
    case DT_QUINT8:
      return Filled<uint8_t>(proto.int_val(), count);
    case DT_UINT32:
      return Filled<uint32_t>(proto.uint32_val(), count);
    case DT_UINT64:
      return Filled<uint64_t>(proto.uint64_val(), count);
    case DT_BOOL:
      return Filled<uint8_t>(proto.bool_val(), count);
    case DT_HALF:
    case DT_BFLOAT16:
      return Filled<uint16_t>(proto.half_val(), count);
    default:
      return UnimplementedError("constant: type " + TypeName(proto.dtype()) +
                                " is not supported");
  }
}

// Returns the number of listed values. Only the list that the type uses has
// any.
int64_t ListedValues(const TensorProto& proto) {
  return int64_t{proto.float_val_size()} + proto.double_val_size() +
         proto.int_val_size() + proto.string_val_size() +
         proto.scomplex_val_size() + proto.int64_val_size() +
         proto.bool_val_size() + proto.dcomplex_val_size() +
         proto.half_val_size() + proto.uint32_val_size() +
         proto.uint64_val_size();
}

StatusOr<ConstantData> Strings(const TensorProto& proto, int64_t count,
                               graph::GraphBuilder& builder) {
  const int64_t given = proto.string_val_size();
  if (given > count) return WrongCount(count, given);
  if (count > (1 << 24))
    return ResourceExhaustedError("constant: expected at most 2^24 strings");
  std::vector<int64_t> handles;
  for (const std::string& text : proto.string_val())
    handles.push_back(builder.StringHandle(text));
  // If the proto lists fewer strings than the shape has, the last one fills the
  // remainder: its handle is copied, because looking up a long string again
  // would be slow.
  if (given < count)
    handles.resize(static_cast<size_t>(count),
                   given == 0 ? builder.StringHandle("") : handles.back());
  const auto* begin = reinterpret_cast<const uint8_t*>(handles.data());
  return ConstantData::Copy({begin, handles.size() * sizeof(int64_t)});
}

// Returns the real (`part` 0) or imaginary (1) parts of complex numbers: every
// second number of type T of the content.
template <typename T>
ConstantData Parts(const std::string& content, int64_t count, size_t part) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * sizeof(T));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::memcpy(bytes.data() + i * sizeof(T),
                content.data() + (2 * i + part) * sizeof(T), sizeof(T));
  }
  return ConstantData::Copy(bytes);
}

StatusOr<ConstantData> ComplexPart(const TensorProto& proto, int64_t count,
                                   int part) {
  const bool narrow = WithoutReference(proto.dtype()) == DT_COMPLEX64;
  const std::string& content = proto.tensor_content();
  if (content.empty()) {
    return narrow ? Filled<float>(proto.scomplex_val(), count, 2, part)
                  : Filled<double>(proto.dcomplex_val(), count, 2, part);
  }
  const int64_t width = narrow ? 8 : 16;
  if (static_cast<int64_t>(content.size()) % width != 0 ||
      static_cast<int64_t>(content.size()) / width != count)
    return WrongCount(count, static_cast<int64_t>(content.size()) / width);
  return narrow ? Parts<float>(content, count, static_cast<size_t>(part))
                : Parts<double>(content, count, static_cast<size_t>(part));
}

}  // namespace

StatusOr<Value> ConstantValue(const TensorProto& proto,
                              std::shared_ptr<const void> owner,
                              graph::GraphBuilder& builder) {
  const std::optional<DType> dtype = DTypeOf(proto.dtype());
  if (!dtype) {
    return UnimplementedError("constant: type " + TypeName(proto.dtype()) +
                              " is not supported");
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> dims,
                         ConstantDims(proto.tensor_shape()));
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count))
      return DataLossError("constant: expected a size of 63 bits");
  }
  if (dims.size() > static_cast<size_t>(ops::kMaxRank)) {
    return DataLossError("constant: expected at most 16 dims, found " +
                         std::to_string(dims.size()));
  }
  // If one number, or none (zeros), fills the whole tensor, the constant is a
  // scalar, which the graph broadcasts.
  const bool filled = proto.tensor_content().empty() && count > 1 &&
                      ListedValues(proto) <= (IsComplex(proto.dtype()) ? 2 : 1);
  const std::vector<int64_t> stored = filled ? std::vector<int64_t>() : dims;
  if (filled) count = 1;
  const auto constant = [&](ConstantData data) {
    const Tensor tensor(&builder,
                        builder.Constant(*dtype, stored, std::move(data)));
    return filled ? Broadcast(tensor, ops::Shape(dims.begin(), dims.end()))
                  : tensor;
  };
  Value value;
  if (IsComplex(proto.dtype())) {
    EMBER_ASSIGN_OR_RETURN(ConstantData real, ComplexPart(proto, count, 0));
    EMBER_ASSIGN_OR_RETURN(ConstantData imaginary,
                           ComplexPart(proto, count, 1));
    value.tensor = constant(std::move(real));
    value.imaginary = constant(std::move(imaginary));
  } else if (proto.dtype() == DT_STRING) {
    EMBER_ASSIGN_OR_RETURN(ConstantData data, Strings(proto, count, builder));
    value.tensor = constant(std::move(data));
  } else if (!proto.tensor_content().empty()) {
    const std::string& content = proto.tensor_content();
    const int64_t width = DTypeByteSize(*dtype);
    if (static_cast<int64_t>(content.size()) % width != 0 ||
        static_cast<int64_t>(content.size()) / width != count)
      return WrongCount(count, static_cast<int64_t>(content.size()) / width);
    // A short string is stored inside the proto itself, so its bytes may be
    // unaligned. AlignedData copies them in that case.
    value.tensor = constant(frontends::AlignedData(
        AsBytes(content), alignof(max_align_t), std::move(owner)));
  } else {
    EMBER_ASSIGN_OR_RETURN(ConstantData data, FromList(proto, count));
    value.tensor = constant(std::move(data));
  }
  EMBER_RETURN_IF_ERROR(builder.status());
  return value;
}

Tensor CheckpointConstant(const CheckpointTensor& tensor,
                          graph::GraphBuilder& builder) {
  // Tensors follow each other in the checkpoint without padding, so their
  // elements may be unaligned. AlignedData copies them in that case.
  const auto width = static_cast<size_t>(DTypeByteSize(tensor.dtype));
  return {&builder, builder.Constant(tensor.dtype, tensor.dims,
                                     frontends::AlignedData(tensor.bytes, width,
                                                            tensor.owner))};
}

}  // namespace ember::tensorflow

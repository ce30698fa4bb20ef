#include "frontends/tensorflow/data_types.h"

namespace ember::tensorflow {

DataType WithoutReference(DataType type) {
  const int number = static_cast<int>(type);
  return static_cast<DataType>(number > 100 && number < 200 ? number - 100
                                                            : number);
}

std::optional<DType> DTypeOf(DataType type) {
  switch (WithoutReference(type)) {
    case DT_FLOAT:
    case DT_COMPLEX64:
      return DType::kF32;
    case DT_DOUBLE:
    case DT_COMPLEX128:
      return DType::kF64;
    case DT_HALF:
      return DType::kF16;
    case DT_BFLOAT16:
      return DType::kBF16;
    case DT_INT8:
    case DT_QINT8:
      return DType::kI8;
    case DT_INT16:
    case DT_QINT16:
      return DType::kI16;
    case DT_INT32:
    case DT_QINT32:
      return DType::kI32;
    case DT_INT64:
    case DT_STRING:
      return DType::kI64;
    case DT_UINT8:
    case DT_QUINT8:
      return DType::kU8;
    case DT_UINT16:
    case DT_QUINT16:
      return DType::kU16;
    case DT_UINT32:
      return DType::kU32;
    case DT_UINT64:
      return DType::kU64;
    case DT_BOOL:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

bool IsComplex(DataType type) {
  return WithoutReference(type) == DT_COMPLEX64 ||
         WithoutReference(type) == DT_COMPLEX128;
}

std::string TypeName(DataType type) {
  return DataType_IsValid(type) ? DataType_Name(type)
                                : "type " + std::to_string(type);
}

StatusOr<std::vector<int64_t>> ConstantDims(const TensorShapeProto& shape) {
  if (shape.unknown_rank())
    return DataLossError("expected a shape, found none");
  std::vector<int64_t> dims;
  for (const TensorShapeProto::Dim& dim : shape.dim()) {
    if (dim.size() < 0) {
      return DataLossError("expected extents of at least 0, found " +
                           std::to_string(dim.size()));
    }
    dims.push_back(dim.size());
  }
  return dims;
}

}  // namespace ember::tensorflow

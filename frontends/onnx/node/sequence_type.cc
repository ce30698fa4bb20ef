#include "frontends/onnx/node/sequence_type.h"

#include "frontends/onnx/node/tensor_proto.h"

namespace ember::onnx {

namespace {

StatusOr<SequenceType> ReadMapType(const TypeProto::Map& map) {
  SequenceType result;
  result.kind = SequenceKind::kMap;
  result.rank = 0;
  if (map.key_type() == TensorProto::STRING) {
    result.key_carried_type = TensorProto::STRING;
  } else if (map.key_type() != TensorProto::INT64) {
    return UnimplementedError(
        "expected a map with keys of type INT64 or STRING, found " +
        OnnxTypeName(map.key_type()));
  }
  if (!map.value_type().has_tensor_type()) {
    return UnimplementedError(
        "expected a map to tensors, found one to another kind of value");
  }
  const int32_t type = map.value_type().tensor_type().elem_type();
  EMBER_ASSIGN_OR_RETURN(result.dtype, StorageFromOnnx(type));
  if (type == TensorProto::STRING) {
    result.carried_type = type;
  } else if (IsCarriedType(type)) {
    return UnimplementedError("expected a map to numbers or strings, found " +
                              OnnxTypeName(type));
  }
  return result;
}

}  // namespace

StatusOr<SequenceType> ReadSequenceType(const TypeProto& type,
                                        bool inside_optional) {
  SequenceType result;
  const TypeProto* element = &type;
  if (type.has_optional_type() && !inside_optional)
    return ReadSequenceType(type.optional_type().elem_type(), true);
  if (type.has_map_type() && !inside_optional)
    return ReadMapType(type.map_type());
  if (type.has_sequence_type()) {
    result.kind = inside_optional ? SequenceKind::kOptionalSequence
                                  : SequenceKind::kSequence;
    element = &type.sequence_type().elem_type();
  } else {
    result.kind = SequenceKind::kOptionalTensor;
    if (!inside_optional)
      return UnimplementedError(
          "expected a sequence, optional or map of tensors");
  }
  if (!element->has_tensor_type()) {
    return UnimplementedError(
        "expected tensors in the sequence or optional, found another kind of "
        "value");
  }
  const TypeProto::Tensor& tensor = element->tensor_type();
  EMBER_ASSIGN_OR_RETURN(result.dtype, StorageFromOnnx(tensor.elem_type()));
  if (IsCarriedType(tensor.elem_type()))
    result.carried_type = tensor.elem_type();
  if (tensor.has_shape()) result.rank = tensor.shape().dim_size();
  return result;
}

}  // namespace ember::onnx

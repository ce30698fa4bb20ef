#include "frontends/onnx/sequence_type.h"

#include "frontends/onnx/tensor_proto.h"

namespace ember::onnx {

StatusOr<SequenceType> ReadSequenceType(const TypeProto& type,
                                        bool inside_optional) {
  SequenceType result;
  const TypeProto* element = &type;
  if (type.has_optional_type() && !inside_optional)
    return ReadSequenceType(type.optional_type().elem_type(), true);
  if (type.has_sequence_type()) {
    result.kind = inside_optional ? SequenceKind::kOptionalSequence
                                  : SequenceKind::kSequence;
    element = &type.sequence_type().elem_type();
  } else {
    result.kind = SequenceKind::kOptionalTensor;
    if (!inside_optional)
      return UnimplementedError("expected a sequence or optional of tensors");
  }
  if (!element->has_tensor_type()) {
    return UnimplementedError(
        "expected tensors in the sequence or optional, found another kind of "
        "value");
  }
  const TypeProto::Tensor& tensor = element->tensor_type();
  EMBER_ASSIGN_OR_RETURN(result.dtype, StorageFromOnnx(tensor.elem_type()));
  if (IsNarrowType(tensor.elem_type())) result.narrow_type = tensor.elem_type();
  if (tensor.has_shape()) result.rank = tensor.shape().dim_size();
  return result;
}

}  // namespace ember::onnx

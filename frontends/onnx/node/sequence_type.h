// Types of sequences and optionals, as models declare them.
#ifndef EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_TYPE_H_
#define EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_TYPE_H_

#include "base/status.h"
#include "frontends/onnx/node/sequence.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

struct SequenceType {
  SequenceKind kind = SequenceKind::kSequence;
  DType dtype = DType::kF32;
  int32_t carried_type = 0;
  int rank = -1;  // rank of the elements; -1: not declared; 0 for a map
  int32_t key_carried_type = 0;  // keys of a map: STRING, or 0 for i64
};

// `inside_optional`: true if the type is the element of an optional. Errors:
// sequences of maps, maps whose values are not tensors, sequences of sequences,
// optionals of optionals, unknown element types.
StatusOr<SequenceType> ReadSequenceType(const TypeProto& type,
                                        bool inside_optional = false);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_TYPE_H_

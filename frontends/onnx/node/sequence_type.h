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
  // Rank of the tensors in the sequence or optional; -1 if the model does not
  // declare it; 0 for a map.
  int rank = -1;
  // For a map, the carried type of its keys: STRING, or 0 for integers (i64).
  int32_t key_carried_type = 0;
};

// Reads the type of a sequence, optional or map. `inside_optional`: true if the
// type is the element type of an optional. Errors: sequences of maps, maps
// whose values are not tensors, sequences of sequences, optionals of optionals,
// unknown element types.
StatusOr<SequenceType> ReadSequenceType(const TypeProto& type,
                                        bool inside_optional = false);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_TYPE_H_

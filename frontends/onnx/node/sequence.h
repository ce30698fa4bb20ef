// Sequences and optionals of tensors. The graph has tensors only, so a sequence
// is two tensors:
//
//   data: T[total]      the elements, one after the other, row-major
//   dims: i64[n, rank]  their shapes; an element of lower rank ends in -1s
//
// Sequences of any length thus run on every tier, through loops and branches.
// If the elements are known one by one when compiling, they are kept so, and
// the pair is only made where it is needed. An optional tensor is a sequence of
// at most one element; an optional sequence is a sequence and a flag. Limit:
// SequenceInsert and SequenceErase copy the whole sequence.
//
//   Tensor list = MakeSequence(builder, {a, b});   // list.sequence() != null
//   Tensor x = SequenceAt(c, list, position);
//
// A map is two tensors, too: its values T[n] and its keys (i64 or strings) [n].
// A sequence of maps, which all have the same keys (ZipMap), is T[maps, n] and
// keys [n], in ascending order. Limit: neither crosses the boundary of a branch
// or a loop.
//
// In a module's signature the pair is two inputs or results: NAME, and
// NAME.dims with the logical type "sequence_dims" or "optional_dims". An
// optional sequence has a third, NAME.present (bool, logical type "present").
// For maps they are NAME and NAME.keys (logical type "map_keys", or "string").
//
// Ownership and errors are those of Tensor (tensor.h).
#ifndef EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_H_
#define EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/tensor.h"

namespace ember::onnx {

enum class SequenceKind : uint8_t {
  kSequence,
  kOptionalTensor,
  kOptionalSequence,
  kMap,
  kMaps,  // A sequence of maps, all of which have the same keys.
};

}  // namespace ember::onnx

namespace ember::ops {

struct SequenceValue {
  onnx::SequenceKind kind = onnx::SequenceKind::kSequence;
  DType dtype = DType::kF32;
  int32_t carried_type = 0;
  // Largest rank of the elements; -1 for an empty sequence of unknown rank.
  int rank = -1;
  // Set if the elements are separate tensors, whose number is known when
  // compiling; `data` and `dims` may then be absent.
  std::optional<std::vector<Tensor>> elements;
  // The two tensors of the sequence. For a map they hold the values and the
  // keys.
  Tensor data, dims;
  // True if the optional sequence is present, bool[]. Set only for an optional
  // sequence.
  Tensor flag;
};

}  // namespace ember::ops

namespace ember::onnx {

using ops::SequenceValue;

Tensor MakeSequence(graph::GraphBuilder& builder, SequenceValue value);
// Makes a map, or a sequence of maps. `kind` must be kMap or kMaps.
Tensor MakeMap(graph::GraphBuilder& builder, SequenceKind kind, Tensor values,
               Tensor keys);
bool IsMap(const Tensor& tensor);
// Makes a sequence of the elements' type. There must be at least one element.
Tensor SequenceOf(graph::GraphBuilder& builder, std::vector<Tensor> elements);
Tensor EmptySequence(graph::GraphBuilder& builder, DType dtype,
                     int32_t carried_type, int rank);

// Returns the sequence in the form of two tensors, data and dims. The rank of
// its dims is `rank`, or its own rank if that is larger.
Tensor AsPair(Tensor sequence, int rank);

Tensor SequenceLength(Tensor sequence);  // i64[]
// Returns an element of a sequence. position: an i64 scalar, which must be in
// range. Negative positions count from the end.
Tensor SequenceAt(NodeContext& c, Tensor sequence, Tensor position);
// Returns the sequence with an element inserted. Without a position, the
// element is appended.
Tensor SequenceInsert(NodeContext& c, Tensor sequence, Tensor element,
                      Tensor position);
Tensor SequenceErase(NodeContext& c, Tensor sequence, Tensor position);
Tensor HasElement(Tensor optional);  // bool[]
// Returns the element of an optional, which must have one.
Tensor GetElement(NodeContext& c, Tensor optional);

// Returns the tensors that represent any value at the boundary of a region: the
// value itself, or the parts of a sequence (data, dims, flag).
std::vector<Tensor> PartsOf(Tensor value, int rank);
int PartCount(const Tensor& value);
// Returns a value that consists of these parts (see PartsOf), of the same kind
// and type as `like`.
Tensor FromParts(const Tensor& like, std::span<const Tensor> parts);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_SEQUENCE_H_

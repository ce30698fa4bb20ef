// Sequences and optionals of tensors. The graph has tensors only: a sequence is
//
//   data: T[total]      the elements, one after the other, row-major
//   dims: i64[n, rank]  their shapes; an element of lower rank ends in -1s
//
// so that sequences of any length run on every tier, through loops and
// branches. Where the elements are known one by one when compiling they are
// kept so, and the pair is only made where it is needed. An optional tensor is
// a sequence of at most one; an optional sequence is a sequence and a flag.
// Limit: SequenceInsert and SequenceErase copy the whole sequence.
//
//   Tensor list = MakeSequence(builder, {a, b});   // list.sequence() != null
//   Tensor x = SequenceAt(c, list, position);
//
// A map is two tensors, too: its values T[n] and its keys (i64 or strings) [n].
// A sequence of maps, which all have the same keys (ZipMap), is T[maps, n] and
// keys [n], in ascending order. Limit: neither crosses the boundary of a branch
// or a loop.
//
// At the edges of a module the pair is two inputs or results: NAME, and
// NAME.dims with the logical type "sequence_dims" or "optional_dims"; an
// optional sequence has a third, NAME.present (bool, logical type "present").
// Of maps they are NAME and NAME.keys (logical type "map_keys", or "string").
//
// Ownership and errors as for Tensor (tensor.h).
#ifndef EMBER_FRONTENDS_ONNX_SEQUENCE_H_
#define EMBER_FRONTENDS_ONNX_SEQUENCE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/onnx/node_context.h"
#include "frontends/onnx/tensor.h"

namespace ember::onnx {

enum class SequenceKind : uint8_t {
  kSequence,
  kOptionalTensor,
  kOptionalSequence,
  kMap,
  kMaps,  // a sequence of maps
};

}  // namespace ember::onnx

namespace ember::ops {

struct SequenceValue {
  onnx::SequenceKind kind = onnx::SequenceKind::kSequence;
  DType dtype = DType::kF32;
  int32_t carried_type = 0;
  // Of the longest shape; -1: an empty sequence that nothing is known of.
  int rank = -1;
  // Known one by one; then data and dims may be absent.
  std::optional<std::vector<Tensor>> elements;
  Tensor data, dims;  // of maps: values and keys
  Tensor flag;        // of an optional sequence: bool[]
};

}  // namespace ember::ops

namespace ember::onnx {

using ops::SequenceValue;

Tensor MakeSequence(graph::GraphBuilder& builder, SequenceValue value);
// kind: kMap or kMaps.
Tensor MakeMap(graph::GraphBuilder& builder, SequenceKind kind, Tensor values,
               Tensor keys);
bool IsMap(const Tensor& tensor);
// Of the elements' type; there is at least one.
Tensor SequenceOf(graph::GraphBuilder& builder, std::vector<Tensor> elements);
Tensor EmptySequence(graph::GraphBuilder& builder, DType dtype,
                     int32_t carried_type, int rank);

// The same with data and dims, whose rank is `rank` (or larger, if it is).
Tensor AsPair(Tensor sequence, int rank);

Tensor SequenceLength(Tensor sequence);  // i64[]
// position: an i64 scalar, negative from the end; must be in range.
Tensor SequenceAt(NodeContext& c, Tensor sequence, Tensor position);
// position: absent for the end.
Tensor SequenceInsert(NodeContext& c, Tensor sequence, Tensor element,
                      Tensor position);
Tensor SequenceErase(NodeContext& c, Tensor sequence, Tensor position);
Tensor HasElement(Tensor optional);                  // bool[]
Tensor GetElement(NodeContext& c, Tensor optional);  // must have one

// The tensors that stand for any value at the boundary of a region: the value
// itself, or the parts of a sequence (data, dims, flag).
std::vector<Tensor> PartsOf(Tensor value, int rank);
int PartCount(const Tensor& value);
// The value with its parts replaced: of the same kind and type.
Tensor FromParts(const Tensor& like, std::span<const Tensor> parts);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_SEQUENCE_H_

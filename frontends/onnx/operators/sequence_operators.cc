// Imports operators on sequences and optionals, except SequenceMap, which is
// control flow.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/node/sequence.h"
#include "frontends/onnx/node/sequence_type.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Largest number of elements of a list that is kept element by element. A
// longer list is kept as a pair of tensors (data and dims).
constexpr int64_t kMaxKnownElements = 256;

bool CheckSequence(NodeContext& c, int input) {
  if (!c.ok()) return false;
  if (c.Input(input) && c.Input(input).sequence() != nullptr) return true;
  c.FailInvalid("input " + std::to_string(input) +
                ": expected a sequence, found a tensor");
  return false;
}

bool CheckTensor(NodeContext& c, int input) {
  if (!c.ok()) return false;
  if (c.Input(input) && c.Input(input).sequence() == nullptr) return true;
  c.FailInvalid("input " + std::to_string(input) +
                ": expected a tensor, found a sequence");
  return false;
}

void ImportSequenceConstruct(NodeContext& c) {
  for (int i = 0; i < c.input_count(); ++i) {
    if (!CheckTensor(c, i)) return;
    if (c.Input(i).dtype() != c.Input(0).dtype())
      return c.FailInvalid("expected elements of one type, found " +
                           std::string(DTypeName(c.Input(0).dtype())) +
                           " and " +
                           std::string(DTypeName(c.Input(i).dtype())));
  }
  c.SetOutput(0, SequenceOf(c.builder(), c.inputs()));
}

void ImportSequenceEmpty(NodeContext& c) {
  const auto onnx_type = static_cast<int32_t>(
      c.Integer("dtype", static_cast<int64_t>(TensorProto::FLOAT)));
  const StatusOr<DType> dtype = StorageFromOnnx(onnx_type);
  if (!dtype.ok()) return c.Fail(dtype.status());
  c.SetOutput(0, EmptySequence(c.builder(), *dtype,
                               IsCarriedType(onnx_type) ? onnx_type : 0, -1));
}

void ImportSequenceInsert(NodeContext& c) {
  if (!CheckSequence(c, 0) || !CheckTensor(c, 1)) return;
  c.SetOutput(0, SequenceInsert(c, c.Input(0), c.Input(1), c.Input(2)));
}

void ImportSequenceAt(NodeContext& c) {
  if (!CheckSequence(c, 0) || !CheckTensor(c, 1)) return;
  c.SetOutput(0, SequenceAt(c, c.Input(0), c.Input(1)));
}

void ImportSequenceErase(NodeContext& c) {
  if (!CheckSequence(c, 0)) return;
  c.SetOutput(0, SequenceErase(c, c.Input(0), c.Input(1)));
}

void ImportSequenceLength(NodeContext& c) {
  if (CheckSequence(c, 0)) c.SetOutput(0, SequenceLength(c.Input(0)));
}

// Concatenates a sequence whose number of elements depends on data: a loop
// appends one element per iteration to its result.
Tensor ConcatInLoop(NodeContext& c, Tensor sequence, int axis, bool new_axis) {
  const Tensor pair = AsPair(sequence, 0);
  const auto piece = [&](NodeContext& at, Tensor list, Tensor position) {
    const Tensor element = SequenceAt(at, list, position);
    return new_axis && at.ok() ? Unsqueeze(element, {axis}) : element;
  };
  const Tensor first = piece(c, pair, Reshape(c.Integers64({0}), {}));
  if (!c.ok()) return c.Wrap(nullptr);
  const graph::LoopRequest request{
      .carried = {first.value()},
      .scanned = {},
      .trip = LargerOf(pair.sequence()->dims.dim(0) - Dim(1), Dim(0))};
  const std::vector<graph::Value*> results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region, const graph::LoopInputs& in) {
        NodeContext inside = c.Inside(region.builder());
        std::vector<Tensor> parts;
        for (const Tensor& part : PartsOf(pair, 0))
          parts.push_back(inside.Wrap(region.Capture(part.value())));
        const Tensor next = piece(inside, FromParts(pair, parts),
                                  inside.Wrap(in.iteration) + 1.0);
        graph::LoopOutputs out;
        if (!inside.ok()) return out;
        out.carried = {
            Concat({inside.Wrap(in.carried[0]), next}, axis).value()};
        return out;
      });
  return c.Wrap(results.empty() ? nullptr : results[0])
      .Marked(pair.sequence()->carried_type);
}

void ImportConcatFromSequence(NodeContext& c) {
  if (!CheckSequence(c, 0)) return;
  const SequenceValue& value = *c.Input(0).sequence();
  const bool new_axis = c.Integer("new_axis", 0) != 0;
  const int rank = std::max(value.rank, 0) + (new_axis ? 1 : 0);
  if (!c.HasAttribute("axis"))
    return c.FailInvalid("attribute 'axis': expected an integer, found none");
  const int axis = c.Axis(c.Integer("axis", 0), rank);
  if (!c.ok()) return;
  if (!value.elements)
    return c.SetOutput(0, ConcatInLoop(c, c.Input(0), axis, new_axis));
  if (value.elements->empty())
    return c.FailInvalid("expected at least one element, found none");
  std::vector<Tensor> pieces = *value.elements;
  if (new_axis) {
    for (Tensor& piece : pieces) piece = Unsqueeze(piece, {axis});
  }
  c.SetOutput(0, Concat(pieces, axis).Marked(value.carried_type));
}

// Returns the extents of the parts of SplitToSequence if their number is known
// when compiling; else, and after an error, nullopt.
std::optional<Shape> KnownParts(NodeContext& c, const Dim& extent) {
  if (!c.Input(1)) {
    if (!extent.is_constant() || extent.constant() > kMaxKnownElements)
      return std::nullopt;
    return Shape(static_cast<size_t>(extent.constant()), Dim(1));
  }
  const Tensor split = c.Input(1);
  if (split.rank() == 1) {
    const auto count = split.dim(0).AsConstant();
    if (!count || *count > kMaxKnownElements) return std::nullopt;
    return c.Sizes(1, "split");
  }
  const auto contents = c.builder().IntegerContents(split.value());
  if (!contents || !contents->front().is_constant() || !extent.is_constant())
    return std::nullopt;
  const int64_t size = contents->front().constant();
  if (size < 1) {
    c.FailInvalid("split (input 1): expected a size of at least 1, found " +
                  std::to_string(size));
    return std::nullopt;
  }
  if (extent.constant() / size > kMaxKnownElements) return std::nullopt;
  Shape parts;
  for (int64_t start = 0; start < extent.constant(); start += size)
    parts.push_back(Dim(std::min(size, extent.constant() - start)));
  return parts;
}

// Splits x into slices of extent 1 along an axis whose extent depends on data.
// x with the axis moved to the front already is the sequence's data, so only
// the table of dims is made.
Tensor SplitToUnits(NodeContext& c, Tensor x, int axis, bool keep) {
  std::vector<int64_t> permutation = {axis};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) permutation.push_back(i);
  }
  const Dim& extent = x.dim(axis);
  Shape row;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis)
      row.push_back(x.dim(i));
    else if (keep)
      row.push_back(Dim(1));
  }
  SequenceValue value;
  value.dtype = x.dtype();
  value.carried_type = x.carried_type();
  value.rank = static_cast<int>(row.size());
  value.data = Reshape(Transpose(x, permutation), {ElementCount(x.shape())});
  value.dims = Broadcast(c.Wrap(c.builder().ShapeValue(row)),
                         {extent, Dim(static_cast<int64_t>(row.size()))});
  return MakeSequence(c.builder(), std::move(value));
}

// Splits into parts whose sizes depend on data, cut off one by one in a loop.
Tensor SplitInLoop(NodeContext& c, Tensor x, int axis) {
  Tensor sizes, starts;  // i64[n]
  if (c.Input(1).rank() == 1) {
    sizes = Cast(c.Input(1), DType::kI64);
    const Tensor index = IotaVector(c.builder(), sizes.dim(0), DType::kI64);
    const Tensor before = Less(Unsqueeze(index, {0}), Unsqueeze(index, {1}));
    starts = Reduce(Select(before, Unsqueeze(sizes, {0}), sizes.Like(0)), "sum",
                    {1}, false);
  } else {
    const auto size = c.Sizes(Cast(c.Input(1), DType::kI64), "split");
    if (!size) return c.Wrap(nullptr);
    const Dim count = CeilDivide(x.dim(axis), size->front());
    const Tensor step = DimScalar(c.builder(), size->front());
    starts = IotaVector(c.builder(), count, DType::kI64) * step;
    sizes = Minimum(DimScalar(c.builder(), x.dim(axis)) - starts, step);
  }
  const Tensor ranges =
      Concat({Unsqueeze(starts, {1}), Unsqueeze(sizes, {1})}, 1);
  const Tensor empty = AsPair(
      EmptySequence(c.builder(), x.dtype(), x.carried_type(), x.rank()), 0);
  if (!c.ok()) return c.Wrap(nullptr);
  graph::LoopRequest request;
  for (const Tensor& part : PartsOf(empty, 0))
    request.carried.push_back(part.value());
  request.scanned = {ranges.value()};
  request.trip = ranges.dim(0);
  const std::vector<graph::Value*> results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region, const graph::LoopInputs& in) {
        graph::LoopOutputs out;
        NodeContext inside = c.Inside(region.builder());
        const auto range = inside.Sizes(inside.Wrap(in.scanned[0]), "split");
        if (!range) return out;
        const Tensor whole = inside.Wrap(region.Capture(x.value()));
        const Tensor part = SliceAxis(whole, axis, (*range)[0], (*range)[1]);
        const std::vector<Tensor> parts = {inside.Wrap(in.carried[0]),
                                           inside.Wrap(in.carried[1])};
        const Tensor longer =
            SequenceInsert(inside, FromParts(empty, parts), part, Tensor());
        if (!inside.ok()) return out;
        for (const Tensor& piece : PartsOf(longer, x.rank()))
          out.carried.push_back(piece.value());
        return out;
      });
  if (results.size() != 2) return c.Wrap(nullptr);
  return FromParts(empty,
                   std::vector<Tensor>{c.Wrap(results[0]), c.Wrap(results[1])});
}

void ImportSplitToSequence(NodeContext& c) {
  if (!CheckTensor(c, 0) || !c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  const bool keep = c.Integer("keepdims", 1) != 0 || c.Input(1).present();
  if (!c.ok()) return;
  const std::optional<Shape> parts = KnownParts(c, x.dim(axis));
  if (!c.ok()) return;
  if (!parts || parts->empty()) {
    return c.SetOutput(0, c.Input(1) ? SplitInLoop(c, x, axis)
                                     : SplitToUnits(c, x, axis, keep));
  }
  std::vector<Tensor> elements;
  Dim start(0);
  for (const Dim& size : *parts) {
    Tensor element = SliceAxis(x, axis, start, size);
    if (!keep) element = Squeeze(element, {axis});
    elements.push_back(element.Marked(x.carried_type()));
    start = start + size;
  }
  if (c.ok()) c.SetOutput(0, SequenceOf(c.builder(), std::move(elements)));
}

void ImportOptional(NodeContext& c) {
  SequenceValue value;
  if (const Tensor x = c.Input(0); x && x.sequence() == nullptr) {
    value.kind = SequenceKind::kOptionalTensor;
    value.dtype = x.dtype();
    value.carried_type = x.carried_type();
    value.rank = x.rank();
    value.elements = std::vector<Tensor>{x};
    return c.SetOutput(0, MakeSequence(c.builder(), std::move(value)));
  } else if (x) {
    value = *x.sequence();
    value.kind = SequenceKind::kOptionalSequence;
    value.flag = c.Scalar(1, DType::kBool);
    return c.SetOutput(0, MakeSequence(c.builder(), std::move(value)));
  }
  const AttributeProto* type = c.FindAttribute("type");
  if (type == nullptr || !type->has_tp())
    return c.FailInvalid("expected an input or the attribute 'type'");
  const StatusOr<SequenceType> wanted =
      ReadSequenceType(type->tp(), /*inside_optional=*/true);
  if (!wanted.ok()) return c.Fail(wanted.status());
  value.kind = wanted->kind;
  value.dtype = wanted->dtype;
  value.carried_type = wanted->carried_type;
  value.rank = wanted->rank;
  value.elements.emplace();
  if (value.kind == SequenceKind::kOptionalSequence)
    value.flag = c.Scalar(0, DType::kBool);
  c.SetOutput(0, MakeSequence(c.builder(), std::move(value)));
}

void ImportOptionalHasElement(NodeContext& c) {
  c.SetOutput(0,
              c.Input(0) ? HasElement(c.Input(0)) : c.Scalar(0, DType::kBool));
}

void ImportOptionalGetElement(NodeContext& c) {
  c.SetOutput(0, GetElement(c, c.Input(0)));
}

constexpr CarriedTypes kMarks = CarriedTypes::kHandled;
constexpr Sequences kTaken = Sequences::kTaken;

constexpr OperatorRow kRows[] = {
    {"ConcatFromSequence", 11, 1, 1, ImportConcatFromSequence, "", kMarks, 0,
     kTaken},
    {"Optional", 15, 0, 1, ImportOptional, "", kMarks, 0, kTaken},
    {"OptionalGetElement", 15, 1, 1, ImportOptionalGetElement, "", kMarks, 0,
     kTaken},
    {"OptionalHasElement", 15, 0, 1, ImportOptionalHasElement, "", kMarks, 0,
     kTaken},
    {"SequenceAt", 11, 2, 2, ImportSequenceAt, "", kMarks, 0, kTaken},
    {"SequenceConstruct", 11, 1, kVariadic, ImportSequenceConstruct, "", kMarks,
     0, kTaken},
    {"SequenceEmpty", 11, 0, 0, ImportSequenceEmpty, "", kMarks, 0, kTaken},
    {"SequenceErase", 11, 1, 2, ImportSequenceErase, "", kMarks, 0, kTaken},
    {"SequenceInsert", 11, 2, 3, ImportSequenceInsert, "", kMarks, 0, kTaken},
    {"SequenceLength", 11, 1, 1, ImportSequenceLength, "", kMarks, 0, kTaken},
    {"SplitToSequence", 11, 1, 2, ImportSplitToSequence, "", kMarks, 0, kTaken},
};

}  // namespace

std::span<const OperatorRow> SequenceOperators() { return kRows; }

}  // namespace ember::onnx

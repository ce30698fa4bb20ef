#include "frontends/onnx/node/sequence.h"

#include <algorithm>
#include <utility>

#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;

Tensor Empty(GraphBuilder& builder, DType dtype, const Shape& shape) {
  return Broadcast({&builder, builder.Scalar(0, dtype)}, shape);
}

Tensor Flat(Tensor x) { return Reshape(x, {ElementCount(x.shape())}); }

// Returns the row of a sequence's table of dims that belongs to an element of
// this shape, [1, rank]: its extents, followed by -1 for each dim that it
// lacks.
Tensor DimsRow(GraphBuilder& builder, const Shape& shape, int rank) {
  Shape row = shape;
  row.resize(static_cast<size_t>(rank), Dim(-1));
  return Reshape({&builder, builder.ShapeValue(row)}, {Dim(1), Dim(rank)});
}

// Appends columns of -1 to the table of dims until it has `rank` columns.
Tensor WidenDims(Tensor dims, int rank) {
  const auto found = dims.dim(1).AsConstant();
  if (!found || *found >= rank) return dims;
  GraphBuilder& builder = dims.builder();
  const Tensor columns = Broadcast({&builder, builder.Scalar(-1, DType::kI64)},
                                   {dims.dim(0), Dim(rank - *found)});
  return Concat({dims, columns}, 1);
}

// Returns the number of values in each element of a sequence, i64[n].
Tensor ElementCounts(const SequenceValue& value) {
  return Reduce(
      Maximum(Select(Less(value.dims, 0), value.dims.Like(1), value.dims), 0),
      "product", {1}, false);
}

// Returns the index in the data at which element `position` begins, i64[].
Tensor OffsetOf(const SequenceValue& value, Tensor position) {
  const Tensor counts = ElementCounts(value);
  const Tensor index = IotaVector(counts.builder(), counts.dim(0), DType::kI64);
  return Reduce(Select(Less(index, position), counts, counts.Like(0)), "sum",
                {0}, false);
}

// Converts a position in a sequence, which counts from the end if negative, to
// a position from 0 on.
Tensor FromStart(Tensor position, Tensor length) {
  const Tensor wide = Cast(Reshape(position, {}), DType::kI64);
  return Select(Less(wide, 0), wide + length, wide);
}

std::optional<Dim> ReadSize(NodeContext& c, Tensor scalar,
                            std::string_view what) {
  const std::optional<Shape> sizes = c.Sizes(scalar, what);
  if (!sizes) return std::nullopt;
  return sizes->front();
}

std::optional<int64_t> KnownPosition(NodeContext& c, Tensor position) {
  if (!position) return std::nullopt;
  const auto contents = c.builder().IntegerContents(position.value());
  if (!contents || contents->size() != 1) return std::nullopt;
  return contents->front().AsConstant();
}

// Returns a position as an index from 0 on in a list of `count` elements; fails
// if it is out of range.
std::optional<size_t> PositionIn(NodeContext& c, int64_t position, size_t count,
                                 bool may_be_end) {
  const auto length = static_cast<int64_t>(count);
  const int64_t index = position < 0 ? position + length : position;
  const int64_t last = may_be_end ? length : length - 1;
  if (!c.CheckRange("position", position, -length, last)) return std::nullopt;
  return static_cast<size_t>(index);
}

const SequenceValue& ValueOf(const Tensor& tensor) {
  EMBER_CHECK(tensor.sequence() != nullptr);
  return *tensor.sequence();
}

Tensor WithPair(const SequenceValue& like, GraphBuilder& builder, Tensor data,
                Tensor dims) {
  SequenceValue value = like;
  value.elements.reset();
  value.rank = static_cast<int>(dims.dim(1).AsConstant().value_or(0));
  value.data = data;
  value.dims = dims;
  return MakeSequence(builder, std::move(value));
}

// Returns x with the slices [begin, begin + size) of dim 0 replaced by
// `middle`.
Tensor Spliced(Tensor x, const Dim& begin, const Dim& size, Tensor middle) {
  std::vector<Tensor> pieces = {SliceAxis(x, 0, Dim(0), begin)};
  if (middle) pieces.push_back(middle);
  const Dim rest = begin + size;
  pieces.push_back(SliceAxis(x, 0, rest, x.dim(0) - rest));
  return Concat(pieces, 0);
}

}  // namespace

Tensor MakeSequence(GraphBuilder& builder, SequenceValue value) {
  return Tensor(&builder,
                std::make_shared<const SequenceValue>(std::move(value)));
}

Tensor MakeMap(GraphBuilder& builder, SequenceKind kind, Tensor values,
               Tensor keys) {
  SequenceValue value;
  value.kind = kind;
  value.dtype = values.dtype();
  value.carried_type = values.carried_type();
  value.data = values;
  value.dims = keys;
  return MakeSequence(builder, std::move(value));
}

bool IsMap(const Tensor& tensor) {
  return tensor.sequence() != nullptr &&
         (tensor.sequence()->kind == SequenceKind::kMap ||
          tensor.sequence()->kind == SequenceKind::kMaps);
}

Tensor SequenceOf(GraphBuilder& builder, std::vector<Tensor> elements) {
  SequenceValue value;
  value.dtype = elements[0].dtype();
  value.carried_type = elements[0].carried_type();
  value.rank = 0;
  for (const Tensor& element : elements)
    value.rank = std::max(value.rank, element.rank());
  value.elements = std::move(elements);
  return MakeSequence(builder, std::move(value));
}

Tensor EmptySequence(GraphBuilder& builder, DType dtype, int32_t carried_type,
                     int rank) {
  SequenceValue value;
  value.dtype = dtype;
  value.carried_type = carried_type;
  value.rank = rank;
  value.elements.emplace();
  return MakeSequence(builder, std::move(value));
}

Tensor AsPair(Tensor sequence, int rank) {
  const SequenceValue& value = ValueOf(sequence);
  GraphBuilder& builder = sequence.builder();
  rank = std::max({rank, value.rank, 0});
  if (!value.elements)
    return WithPair(value, builder, value.data, WidenDims(value.dims, rank));
  std::vector<Tensor> data, dims;
  for (const Tensor& element : *value.elements) {
    data.push_back(Flat(element));
    dims.push_back(DimsRow(builder, element.shape(), rank));
  }
  if (data.empty()) {
    return WithPair(value, builder, Empty(builder, value.dtype, {Dim(0)}),
                    Empty(builder, DType::kI64, {Dim(0), Dim(rank)}));
  }
  return WithPair(value, builder, Concat(data, 0), Concat(dims, 0));
}

Tensor SequenceLength(Tensor sequence) {
  const SequenceValue& value = ValueOf(sequence);
  GraphBuilder& builder = sequence.builder();
  return DimScalar(builder,
                   value.elements
                       ? Dim(static_cast<int64_t>(value.elements->size()))
                       : value.dims.dim(0));
}

Tensor SequenceAt(NodeContext& c, Tensor sequence, Tensor position) {
  const SequenceValue& known = ValueOf(sequence);
  if (const auto index = KnownPosition(c, position); index && known.elements) {
    const auto place = PositionIn(c, *index, known.elements->size(), false);
    return place ? (*known.elements)[*place] : c.Wrap(nullptr);
  }
  const Tensor pair = AsPair(sequence, 0);
  const SequenceValue& value = ValueOf(pair);
  const Tensor index = FromStart(position, SequenceLength(pair));
  const Tensor row = Gather(value.dims, index, 0);
  const std::optional<Shape> shape = c.Sizes(row, "shape of an element");
  if (!shape) return c.Wrap(nullptr);
  const std::optional<Dim> offset =
      ReadSize(c, OffsetOf(value, index), "place of an element");
  if (!offset) return c.Wrap(nullptr);
  const Tensor flat = SliceAxis(value.data, 0, *offset, ElementCount(*shape));
  return Reshape(flat, *shape).Marked(value.carried_type);
}

Tensor SequenceInsert(NodeContext& c, Tensor sequence, Tensor element,
                      Tensor position) {
  const SequenceValue& known = ValueOf(sequence);
  if (known.dtype != element.dtype()) {
    c.FailInvalid("expected an element of type " +
                  std::string(DTypeName(known.dtype)) + ", found " +
                  std::string(DTypeName(element.dtype())));
    return c.Wrap(nullptr);
  }
  const auto index = KnownPosition(c, position);
  if (known.elements && (index || !position)) {
    std::vector<Tensor> elements = *known.elements;
    const auto place =
        PositionIn(c, index.value_or(static_cast<int64_t>(elements.size())),
                   elements.size(), true);
    if (!place) return c.Wrap(nullptr);
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(*place),
                    element);
    return SequenceOf(c.builder(), std::move(elements));
  }
  const Tensor pair = AsPair(sequence, element.rank());
  const SequenceValue& value = ValueOf(pair);
  const Tensor row = DimsRow(c.builder(), element.shape(), value.rank);
  if (!position) {
    return WithPair(value, c.builder(), Concat({value.data, Flat(element)}, 0),
                    Concat({value.dims, row}, 0));
  }
  const Tensor start = FromStart(position, SequenceLength(pair));
  const auto place = ReadSize(c, start, "position");
  const auto offset = ReadSize(c, OffsetOf(value, start), "position");
  if (!place || !offset) return c.Wrap(nullptr);
  return WithPair(value, c.builder(),
                  Spliced(value.data, *offset, Dim(0), Flat(element)),
                  Spliced(value.dims, *place, Dim(0), row));
}

Tensor SequenceErase(NodeContext& c, Tensor sequence, Tensor position) {
  const SequenceValue& known = ValueOf(sequence);
  if (!position) position = Reshape(c.Integers64({-1}), {});
  if (const auto index = KnownPosition(c, position); index && known.elements) {
    SequenceValue rest = known;
    const auto place = PositionIn(c, *index, rest.elements->size(), false);
    if (!place) return c.Wrap(nullptr);
    rest.elements->erase(rest.elements->begin() +
                         static_cast<std::ptrdiff_t>(*place));
    return MakeSequence(c.builder(), std::move(rest));
  }
  const Tensor pair = AsPair(sequence, 0);
  const SequenceValue& value = ValueOf(pair);
  const Tensor start = FromStart(position, SequenceLength(pair));
  const Tensor count =
      // The gather fails at run time if the position is out of range, so no
      // other check is needed.
      Gather(ElementCounts(value), start, 0);
  const auto place = ReadSize(c, start, "position");
  const auto offset = ReadSize(c, OffsetOf(value, start), "position");
  const auto size = ReadSize(c, count, "size of an element");
  if (!place || !offset || !size) return c.Wrap(nullptr);
  return WithPair(value, c.builder(),
                  Spliced(value.data, *offset, *size, Tensor()),
                  Spliced(value.dims, *place, Dim(1), Tensor()));
}

Tensor HasElement(Tensor optional) {
  GraphBuilder& builder = optional.builder();
  const SequenceValue* value = optional.sequence();
  if (value == nullptr || value->kind == SequenceKind::kSequence)
    return {&builder, builder.Scalar(1, DType::kBool)};
  if (value->kind == SequenceKind::kOptionalSequence) return value->flag;
  const Tensor length = SequenceLength(optional);
  return Less(length.Like(0), length);
}

Tensor GetElement(NodeContext& c, Tensor optional) {
  const SequenceValue* value = optional.sequence();
  if (value == nullptr || value->kind == SequenceKind::kSequence)
    return optional;
  if (value->kind == SequenceKind::kOptionalTensor)
    return SequenceAt(c, optional, Reshape(c.Integers64({0}), {}));
  SequenceValue inside = *value;
  inside.kind = SequenceKind::kSequence;
  inside.flag = Tensor();
  return MakeSequence(c.builder(), std::move(inside));
}

int PartCount(const Tensor& value) {
  if (value.sequence() == nullptr) return 1;
  return value.sequence()->kind == SequenceKind::kOptionalSequence ? 3 : 2;
}

std::vector<Tensor> PartsOf(Tensor value, int rank) {
  if (value.sequence() == nullptr) return {value};
  if (IsMap(value)) {
    value.builder().Fail(UnimplementedError(
        "a map as the result of a branch or in a loop is not supported"));
    return {value.sequence()->data, value.sequence()->dims};
  }
  const Tensor pair = AsPair(value, rank);
  const SequenceValue& parts = ValueOf(pair);
  std::vector<Tensor> tensors = {parts.data, parts.dims};
  if (PartCount(value) == 3) tensors.push_back(parts.flag);
  return tensors;
}

Tensor FromParts(const Tensor& like, std::span<const Tensor> parts) {
  if (like.sequence() == nullptr) return parts[0].Marked(like.carried_type());
  SequenceValue value = *like.sequence();
  value.elements.reset();
  value.data = parts[0];
  value.dims = parts[1];
  value.rank = static_cast<int>(parts[1].dim(1).AsConstant().value_or(0));
  if (value.kind == SequenceKind::kOptionalSequence) value.flag = parts[2];
  return MakeSequence(parts[0].builder(), std::move(value));
}

}  // namespace ember::onnx

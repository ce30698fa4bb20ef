// Imports lists of tensors: TensorList of TensorFlow 2, and TensorArray of
// version 1, whose "flow" carries the array's contents (value.h). A list is one
// tensor of all its elements, which have one shape.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

// Returns the shape if all of its extents are known; else nullopt.
std::optional<Shape> WholeShape(
    const std::optional<std::vector<int64_t>>& dims) {
  if (!dims) return std::nullopt;
  Shape shape;
  for (const int64_t dim : *dims) {
    if (dim < 0) return std::nullopt;
    shape.push_back(Dim(dim));
  }
  return shape;
}

List MakeList(OperatorContext& c, DType dtype, const Dim& count,
              std::optional<std::vector<int64_t>> element_shape) {
  List list;
  list.dtype = dtype;
  list.count = count;
  list.element_shape = std::move(element_shape);
  if (const auto shape = WholeShape(list.element_shape)) {
    Shape all = *shape;
    all.insert(all.begin(), count);
    list.data = Broadcast(c.Scalar(0, dtype), all);
  }
  return list;
}

// Reads a shape from an operand: a vector, in which -1 is an open extent.
// Nullopt for a scalar, which means no shape, and if the operand is not known
// at import.
std::optional<std::vector<int64_t>> ShapeOperand(OperatorContext& c,
                                                 int input) {
  if (!c.Input(input) || !c.ok()) return std::nullopt;
  const auto contents = c.builder().IntegerContents(c.Input(input).value());
  if (!contents || c.Input(input).rank() == 0) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Dim& dim : *contents)
    dims.push_back(dim.AsConstant().value_or(-1));
  return dims;
}

Tensor Index(OperatorContext& c, int input) {
  return Cast(Reshape(c.Input(input), {}), DType::kI64);
}

// Returns the list with its data as one tensor. If the list has no data yet,
// its elements become zeros of the shape `element`.
List Shaped(const List& list, const Shape& element, DType dtype,
            graph::GraphBuilder& builder) {
  if (list.data) return list;
  List shaped = list;
  Shape all = element;
  all.insert(all.begin(), list.count);
  shaped.dtype = dtype;
  shaped.data = Broadcast(Tensor(&builder, builder.Scalar(0, dtype)), all);
  return shaped;
}

bool CheckShaped(OperatorContext& c, const List& list) {
  if (list.data) return c.ok();
  c.FailUnsupported(
      "a list is read whose elements have no known shape: neither what "
      "makes it, nor what writes to it");
  return false;
}

// Sets the result to the list in which element `index` is `value`.
void SetWritten(OperatorContext& c, const List* list, Tensor index,
                Tensor value) {
  if (list == nullptr || !c.ok()) return;
  List written = Shaped(*list, value.shape(), value.dtype(), c.builder());
  if (!c.ok()) return;
  if (written.data.rank() != value.rank() + 1 ||
      written.data.dtype() != value.dtype()) {
    return c.FailUnsupported("expected elements of one type and rank, found " +
                             graph::ToString(value.value()->type()) +
                             " for a list of " +
                             graph::ToString(written.data.value()->type()));
  }
  Shape row = value.shape();
  row.insert(row.begin(), Dim(1));
  written.data = Apply(
      "scatter_nd",
      {written.data, Reshape(index, {Dim(1), Dim(1)}), Reshape(value, row)},
      {{"update", std::string("assign")}});
  c.SetList(0, std::move(written));
}

void SetRead(OperatorContext& c, const List* list, Tensor index) {
  if (list == nullptr || !CheckShaped(c, *list)) return;
  c.SetOutput(0, Gather(list->data, index, 0));
}

void SetGathered(OperatorContext& c, const List* list, Tensor indices) {
  if (list == nullptr || !CheckShaped(c, *list)) return;
  c.SetOutput(0, Gather(list->data, Cast(indices, DType::kI64), 0));
}

// Sets the result to the list in which row i of `values` is written to position
// indices[i].
void SetScatteredRows(OperatorContext& c, const List* list, Tensor indices,
                      Tensor values) {
  if (list == nullptr || !c.ok()) return;
  if (!values.HasDim(0) || indices.rank() != 1) return;
  const Shape element(values.shape().begin() + 1, values.shape().end());
  List written = Shaped(*list, element, values.dtype(), c.builder());
  // True if the indices are 0, 1, … up to the list's length, as in an unstack.
  // The values are then the whole list.
  const auto places = c.builder().IntegerContents(indices.value());
  bool in_order = places && Dim(std::ssize(*places)) == written.data.dim(0);
  for (size_t i = 0; in_order && i < places->size(); ++i)
    in_order = (*places)[i] == Dim(static_cast<int64_t>(i));
  if (in_order) {
    written.data = values;
  } else {
    written.data = Apply(
        "scatter_nd",
        {written.data, Unsqueeze(Cast(indices, DType::kI64), {1}), values},
        {{"update", std::string("assign")}});
  }
  c.SetList(0, std::move(written));
}

// Sets the results of a concatenation: the elements [count, n, …] joined to
// [count * n, …], and the lengths of the elements.
void SetJoined(OperatorContext& c, const List* list) {
  if (list == nullptr || !CheckShaped(c, *list)) return;
  const Tensor data = list->data;
  if (data.rank() < 2)
    return c.FailInvalid("expected elements with dims, found scalars");
  Shape shape(data.shape().begin() + 1, data.shape().end());
  shape[0] = shape[0] * data.dim(0);
  c.SetOutput(0, Reshape(data, shape));
  c.SetOutput(1, Broadcast(DimScalar(c.builder(), data.dim(1)), {data.dim(0)}));
}

// Sets the result to a list whose elements are consecutive parts of the first
// dim of `values`, all of the same length.
void SetPartsOf(OperatorContext& c, Tensor values, int lengths_input,
                const List* list) {
  const auto lengths = c.Contents(lengths_input, "lengths");
  if (!lengths || lengths->empty() || !values.HasDim(0)) return;
  for (const Dim& length : *lengths) {
    if (length != lengths->front())
      return c.FailUnsupported("lengths: expected equal ones");
  }
  Shape shape = values.shape();
  shape[0] = lengths->front();
  shape.insert(shape.begin(), Dim(std::ssize(*lengths)));
  List parts = list != nullptr ? *list : List{};
  parts.dtype = values.dtype();
  parts.data = Reshape(values, shape);
  c.SetList(0, std::move(parts));
}

Dim CountOf(const List& list) {
  return list.data ? list.data.dim(0) : list.count;
}

}  // namespace

void ImportTensorListReserve(OperatorContext& c) {
  const auto count = c.Sizes(1, "num_elements");
  const DType dtype = c.Type("element_dtype", DType::kF32);
  if (!count || count->size() != 1) return;
  c.SetList(0, MakeList(c, dtype, count->front(), ShapeOperand(c, 0)));
}
void ImportEmptyTensorList(OperatorContext& c) {
  const DType dtype = c.Type("element_dtype", DType::kF32);
  c.SetList(0, MakeList(c, dtype, Dim(0), ShapeOperand(c, 0)));
}
void ImportTensorListFromTensor(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  List list;
  list.data = c.Input(0);
  list.dtype = list.data.dtype();
  c.SetList(0, std::move(list));
}
void ImportTensorListStack(OperatorContext& c) {
  const List* list = c.InputList(0);
  if (list == nullptr) return;
  List shaped = *list;
  if (!shaped.data) {
    if (const auto shape = WholeShape(ShapeOperand(c, 1)))
      shaped = Shaped(shaped, *shape, shaped.dtype, c.builder());
  }
  if (CheckShaped(c, shaped)) c.SetOutput(0, shaped.data);
}
void ImportTensorListGetItem(OperatorContext& c) {
  SetRead(c, c.InputList(0), Index(c, 1));
}
void ImportTensorListSetItem(OperatorContext& c) {
  SetWritten(c, c.InputList(0), Index(c, 1), c.Input(2));
}
void ImportTensorListGather(OperatorContext& c) {
  SetGathered(c, c.InputList(0), c.Input(1));
}
void ImportTensorListLength(OperatorContext& c) {
  const List* list = c.InputList(0);
  if (list != nullptr)
    c.SetOutput(0, Cast(DimScalar(c.builder(), CountOf(*list)), DType::kI32));
}
void ImportTensorListElementShape(OperatorContext& c) {
  const List* list = c.InputList(0);
  if (list == nullptr || !CheckShaped(c, *list)) return;
  const Shape shape(list->data.shape().begin() + 1, list->data.shape().end());
  c.SetOutput(0, Cast(c.Wrap(c.builder().ShapeValue(shape)),
                      c.Type("shape_type", DType::kI32)));
}
void ImportTensorListPushBack(OperatorContext& c) {
  const List* list = c.InputList(0);
  const Tensor value = c.Input(1);
  if (list == nullptr || !c.ok()) return;
  List longer = Shaped(*list, value.shape(), value.dtype(), c.builder());
  longer.data = Concat({longer.data, Unsqueeze(value, {0})}, 0);
  c.SetList(0, std::move(longer));
}
void ImportTensorListPopBack(OperatorContext& c) {
  const List* list = c.InputList(0);
  if (list == nullptr || !CheckShaped(c, *list)) return;
  List shorter = *list;
  const Dim rest = list->data.dim(0) - Dim(1);
  if (rest.is_constant() && rest.constant() < 0)
    return c.FailInvalid("expected a list with elements, found an empty one");
  shorter.data = SliceAxis(list->data, 0, Dim(0), rest);
  c.SetList(0, std::move(shorter));
  c.SetOutput(1, Squeeze(SliceAxis(list->data, 0, rest, Dim(1)), {0}));
}
void ImportTensorListResize(OperatorContext& c) {
  const List* list = c.InputList(0);
  const auto size = c.Sizes(1, "size");
  if (list == nullptr || !size || size->size() != 1) return;
  List resized = *list;
  resized.count = size->front();
  if (list->data) {
    Shape low(list->data.rank(), Dim(0)), high = low;
    high[0] = size->front() - list->data.dim(0);
    resized.data = Pad(list->data, low, high, "constant", list->data.Like(0));
  }
  c.SetList(0, std::move(resized));
}
// Imports TensorListScatter. Operands: (values, indices, element shape[, number
// of elements]).
void ImportTensorListScatter(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  const Tensor indices = c.Input(1);
  std::optional<Dim> count;
  if (c.input_count() > 3) {
    const auto given = c.ConstantIntegers(3, "num_elements");
    if (!given || given->size() != 1) return;
    if (given->front() >= 0) count = Dim(given->front());
  }
  if (!count) {
    const Tensor most = Reduce(Cast(indices, DType::kI64), "maximum", {0},
                               /*keep=*/true) +
                        1.0;
    const Shape extents = c.builder().Extents(Maximum(most, 0).value());
    if (!c.ok()) return;
    count = extents.front();
  }
  List list;
  list.count = *count;
  SetScatteredRows(c, &list, indices, c.Input(0));
}
void ImportTensorListScatterInto(OperatorContext& c) {
  SetScatteredRows(c, c.InputList(0), c.Input(2), c.Input(1));
}
void ImportTensorListConcat(OperatorContext& c) {
  SetJoined(c, c.InputList(0));
}
void ImportTensorListSplit(OperatorContext& c) {
  if (c.CheckRank(0, 1)) SetPartsOf(c, c.Input(0), 2, nullptr);
}
void ImportTensorListConcatLists(OperatorContext& c) {
  const List* a = c.InputList(0);
  const List* b = c.InputList(1);
  if (a == nullptr || b == nullptr) return;
  if (!a->data) return c.SetList(0, *b);
  if (!b->data) return c.SetList(0, *a);
  List both = *a;
  both.data = Concat({a->data, b->data}, 0);
  c.SetList(0, std::move(both));
}

// Imports TensorArray. Operands: (size); results: handle, flow. The flow holds
// all data; the handle is not used.
void ImportTensorArray(OperatorContext& c) {
  const auto size = c.Sizes(0, "size");
  const DType dtype = c.Type("dtype", DType::kF32);
  if (!size || size->size() != 1) return;
  Value handle;
  handle.resource = "TensorArray";
  c.SetValue(0, handle);
  c.SetList(
      1, MakeList(c, dtype, size->front(), c.ShapeAttribute("element_shape")));
}
// Imports TensorArrayWrite. Operands: (handle, index, value, flow).
void ImportTensorArrayWrite(OperatorContext& c) {
  SetWritten(c, c.InputList(3), Index(c, 1), c.Input(2));
}
// Imports TensorArrayRead. Operands: (handle, index, flow).
void ImportTensorArrayRead(OperatorContext& c) {
  SetRead(c, c.InputList(2), Index(c, 1));
}
void ImportTensorArrayGather(OperatorContext& c) {
  SetGathered(c, c.InputList(2), c.Input(1));
}
// Imports TensorArrayScatter. Operands: (handle, indices, values, flow).
void ImportTensorArrayScatter(OperatorContext& c) {
  if (c.CheckRank(2, 1) && c.CheckRank(1, 1, 1))
    SetScatteredRows(c, c.InputList(3), c.Input(1), c.Input(2));
}
// Operands: (handle, flow).
void ImportTensorArrayConcat(OperatorContext& c) {
  SetJoined(c, c.InputList(1));
}
// Imports TensorArraySplit. Operands: (handle, values, lengths, flow).
void ImportTensorArraySplit(OperatorContext& c) {
  if (c.CheckRank(1, 1)) SetPartsOf(c, c.Input(1), 2, c.InputList(3));
}
void ImportTensorArraySize(OperatorContext& c) {
  const List* list = c.InputList(1);
  if (list != nullptr)
    c.SetOutput(0, Cast(DimScalar(c.builder(), CountOf(*list)), DType::kI32));
}

}  // namespace ember::tensorflow

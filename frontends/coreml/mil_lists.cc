// MIL's lists of tensors: one tensor, whose first dim is the list.
#include <string>
#include <vector>

#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {
namespace {

// Returns the index in the list that the operation reads or writes, as a scalar
// i64.
Tensor ListIndex(MilOperation& o) {
  return Reshape(Cast(o.Input("index"), DType::kI64), {});
}

// Returns the list extended to `length` elements. The new elements are 0.
Tensor Grown(const Tensor& list, const Dim& length) {
  Shape low(static_cast<size_t>(list.rank()), Dim(0)), high = low;
  high[0] = length - list.dim(0);
  return Pad(list, low, high, "constant", list.Like(0));
}

void SetList(MilOperation& o, const Tensor& list, bool grows) {
  o.SetOutput(0, list);
  o.SetGrows(0, grows);
}

void MakeList(MilOperation& o) {
  const std::vector<int64_t> length = o.Integers("init_length", {1});
  if (!o.ok()) return;
  if (length.size() != 1 || !o.CheckRange("init_length", length[0], 0)) return;
  Shape shape{Dim(length[0])};
  if (o.Has("elem_shape")) {
    for (const Tensor& dim : o.All("elem_shape")) {
      const auto extent = o.ConstantNumbers(dim, "elem_shape");
      if (!extent) return;
      for (const double number : *extent) {
        if (!(number >= 0 && number < 9e15)) {
          return o.FailUnsupported(
              "elem_shape: expected dims that are known, found " +
              std::to_string(number));
        }
        shape.push_back(Dim(static_cast<int64_t>(number)));
      }
    }
  }
  const std::string type = o.Text("dtype", "fp32");
  const auto dtype = type == "fp32"    ? DType::kF32
                     : type == "fp16"  ? DType::kF16
                     : type == "int32" ? DType::kI32
                     : type == "bool"  ? DType::kBool
                                       : DType::kI8;
  if (dtype == DType::kI8 && type != "int8")
    return o.FailUnsupported(
        "dtype: expected fp32, fp16, int32, int8 or bool, found '" + type +
        "'");
  SetList(o, Broadcast(o.Scalar(0, dtype), shape),
          o.Flag("dynamic_length", true));
}

void ListLength(MilOperation& o) {
  const Tensor list = o.Input("ls");
  if (!o.CheckRank("ls", 1)) return;
  o.SetOutput(0, Cast(ops::DimScalar(o.builder(), list.dim(0)), DType::kI32));
}

// Makes the program fail at run time if any of the indices is outside of the
// list.
void RequireIndices(MilOperation& o, const Tensor& indices,
                    const Tensor& list) {
  const Tensor length = ops::DimScalar(o.builder(), list.dim(0));
  Tensor within = And(LessEqual(0, indices), Less(indices, length));
  if (!o.ok()) return;
  if (within.rank() > 0) within = Reduce(within, "minimum", {0}, false);
  if (!o.ok()) return;
  o.builder().Require(within.value(),
                      "node '" + o.builder().origin() +
                          "': expected an index of the list, found another");
}

void ListRead(MilOperation& o) {
  if (!o.CheckRank("ls", 1)) return;
  const Tensor index = ListIndex(o);
  RequireIndices(o, index, o.Input("ls"));
  if (o.ok()) o.SetOutput(0, Gather(o.Input("ls"), index, 0));
}

void ListGather(MilOperation& o) {
  if (!o.CheckRank("ls", 1) || !o.CheckRank("indices", 1, 1)) return;
  const Tensor indices = Cast(o.Input("indices"), DType::kI64);
  RequireIndices(o, indices, o.Input("ls"));
  if (o.ok()) o.SetOutput(0, Gather(o.Input("ls"), indices, 0));
}

// Returns a list that contains all of `indices`. A list that may
// grow is extended; any other list must contain them already.
Tensor WithIndices(MilOperation& o, const Tensor& indices) {
  const Tensor list = o.Input("ls");
  if (!o.Grows("ls")) {
    RequireIndices(o, indices, list);
    return list;
  }
  Tensor last = indices;
  if (indices.rank() > 0) last = Reduce(indices, "maximum", {0}, false);
  const Tensor length =
      Maximum(last + 1.0, ops::DimScalar(o.builder(), list.dim(0)));
  if (!o.ok()) return list;
  const Shape extent = o.builder().Extents(Reshape(length, {Dim(1)}).value());
  return o.ok() ? Grown(list, extent[0]) : list;
}

void SetWritten(MilOperation& o, const Tensor& list, const Tensor& indices,
                const Tensor& values) {
  SetList(o,
          Apply("scatter_nd",
                {list, Unsqueeze(indices, {1}), Cast(values, list.dtype())},
                {{"update", std::string("assign")}}),
          o.Grows("ls"));
}

void ListWrite(MilOperation& o) {
  if (!o.CheckRank("ls", 1)) return;
  const Tensor index = ListIndex(o), value = o.Input("value");
  const Tensor list = WithIndices(o, index);
  if (!o.ok()) return;
  if (value.rank() + 1 != list.rank()) {
    return o.FailInvalid("value: expected one of rank " +
                         std::to_string(list.rank() - 1) + ", found " +
                         std::to_string(value.rank()));
  }
  SetWritten(o, list, Reshape(index, {Dim(1)}), Unsqueeze(value, {0}));
}

void ListScatter(MilOperation& o) {
  if (!o.CheckRank("ls", 1) || !o.CheckRank("indices", 1, 1)) return;
  const Tensor indices = Cast(o.Input("indices"), DType::kI64);
  const Tensor list = WithIndices(o, indices);
  const Tensor values = o.Input("value");
  if (!o.ok()) return;
  if (values.rank() != list.rank()) {
    return o.FailInvalid("value: expected one of rank " +
                         std::to_string(list.rank()) + ", found " +
                         std::to_string(values.rank()));
  }
  SetWritten(o, list, indices, values);
}

constexpr MilRow kRows[] = {
    {"list_gather", ListGather}, {"list_length", ListLength},
    {"list_read", ListRead},     {"list_scatter", ListScatter},
    {"list_write", ListWrite},   {"make_list", MakeList},
};

}  // namespace

std::span<const MilRow> MilLists() { return kRows; }

}  // namespace ember::coreml

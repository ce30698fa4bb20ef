#include "frontends/coreml/gather_scatter.h"

#include <vector>

#include "frontends/ops/compositions.h"

namespace ember::coreml {

using ops::Apply;
using ops::Dim;
using ops::IotaVector;
using ops::Opcode;
using ops::Shape;
using ops::Tensor;

namespace {

// Returns the index tuples as i64, with the dim's extent added to each negative
// index; absent after an error.
Tensor TuplesIn(ops::ImportContext& c, const Tensor& x, const Tensor& indices) {
  if (!c.ok()) return {};
  const Dim length = indices.rank() > 0 ? indices.dim(-1) : Dim(0);
  if (!length.is_constant() || length.constant() < 1 ||
      length.constant() > x.rank()) {
    c.FailInvalid("indices: expected tuples of 1 to " +
                  std::to_string(x.rank()) + " elements, found " +
                  graph::ShapeToString(indices.shape()));
    return {};
  }
  const Shape extents(x.shape().begin(), x.shape().begin() + length.constant());
  const Tensor wide = Cast(indices, DType::kI64);
  return Select(Less(wide, 0), wide + c.Wrap(c.builder().ShapeValue(extents)),
                wide);
}

}  // namespace

std::optional<ScatterUpdate> UpdateOf(ops::ImportContext& c,
                                      const std::string& mode,
                                      const Tensor& values) {
  if (!c.ok()) return std::nullopt;
  if (mode == "update") return ScatterUpdate{"assign", values};
  if (mode == "add") return ScatterUpdate{"add", values};
  if (mode == "sub") return ScatterUpdate{"add", -values};
  if (mode == "mul") return ScatterUpdate{"multiply", values};
  if (mode == "div" && values.is_float())
    return ScatterUpdate{"multiply", 1.0 / values};
  if (mode == "max") return ScatterUpdate{"maximum", values};
  if (mode == "min") return ScatterUpdate{"minimum", values};
  c.FailUnsupported("mode: found '" + mode + "'");
  return std::nullopt;
}

Tensor GatherTuples(ops::ImportContext& c, const Tensor& x,
                    const Tensor& indices) {
  const Tensor tuples = TuplesIn(c, x, indices);
  if (!tuples) return x;
  return Apply("gather_nd", {x, tuples}, {{"batch_dims", int64_t{0}}});
}

Tensor ScatterTuples(ops::ImportContext& c, const Tensor& data,
                     const Tensor& indices, const ScatterUpdate& update) {
  const Tensor tuples = TuplesIn(c, data, indices);
  if (!tuples) return data;
  return Apply("scatter_nd", {data, tuples, update.values},
               {{"update", update.name}});
}

Tensor ScatterAlong(const Tensor& data, const Tensor& indices,
                    const ScatterUpdate& update, int axis) {
  return Apply(
      "scatter_elements",
      {data, ops::NormalizeIndices(Cast(indices, DType::kI64), data.dim(axis)),
       update.values},
      {{"axis", int64_t{axis}}, {"update", update.name}});
}

Tensor ScatterSlices(ops::ImportContext& c, const Tensor& data,
                     const Tensor& indices, const ScatterUpdate& update,
                     int axis) {
  if (!c.ok()) return data;
  const int more = indices.rank();
  if (more < 1 || update.values.rank() != data.rank() - 1 + more) {
    c.FailInvalid("updates: expected rank " +
                  std::to_string(data.rank() - 1 + more) + " beside indices " +
                  graph::ShapeToString(indices.shape()) + ", found " +
                  std::to_string(update.values.rank()));
    return data;
  }
  // Permutes the data so that the axis is first, and the updates so that the
  // dims of the indices are first, because only slices of the first axis can be
  // scattered. The result is permuted back.
  std::vector<int64_t> to_front = {axis}, back, updates_to_front;
  for (int i = 0; i < more; ++i) updates_to_front.push_back(axis + i);
  for (int i = 0; i < data.rank(); ++i) {
    if (i != axis) {
      to_front.push_back(i);
      updates_to_front.push_back(i < axis ? i : i - 1 + more);
    }
    back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  }
  const Tensor places =
      ops::NormalizeIndices(Cast(indices, DType::kI64), data.dim(axis));
  return Transpose(Apply("scatter_nd",
                         {Transpose(data, to_front), Unsqueeze(places, {more}),
                          Transpose(update.values, updates_to_front)},
                         {{"update", update.name}}),
                   back);
}

Tensor SlidingWindows(ops::ImportContext& c, const Tensor& x, int axis,
                      int64_t size, int64_t step) {
  const auto extent = c.Extent(x, axis);
  if (!extent || !c.CheckRange("window size", size, 1, *extent) ||
      !c.CheckRange("step", step, 1))
    return x;
  const int64_t count = (*extent - size) / step + 1;
  const auto numbers = [&](int64_t many) {
    return IotaVector(c.builder(), Dim(many), DType::kI64);
  };
  return Gather(x,
                Unsqueeze(numbers(count) * static_cast<double>(step), {1}) +
                    Unsqueeze(numbers(size), {0}),
                axis);
}

Tensor ReverseSequences(const Tensor& x, const Tensor& lengths, int batch_axis,
                        int axis) {
  const Tensor place = AlongAxis(
      IotaVector(x.builder(), x.dim(axis), DType::kI64), axis, x.rank());
  const Tensor length =
      AlongAxis(Cast(lengths, DType::kI64), batch_axis, x.rank());
  const Tensor from = Select(Less(place, length), length - place - 1.0, place);
  return Apply("gather_elements", {x, Broadcast(from, x.shape())},
               {{"axis", int64_t{axis}}});
}

Tensor IndicesOfNonZero(const Tensor& x) {
  graph::GraphBuilder& builder = x.builder();
  const Tensor flat = Apply("non_zero", {NotEqual(x, 0)},
                            {{"defines", Shape{builder.FreshSymbol()}}});
  std::vector<Tensor> columns;
  Dim inner(1);
  for (int axis = x.rank() - 1; axis >= 0 && builder.status().ok(); --axis) {
    const Tensor above =
        Binary(Opcode::kFloorDivide, flat, ops::DimScalar(builder, inner));
    columns.insert(
        columns.begin(),
        Unsqueeze(Modulo(above, ops::DimScalar(builder, x.dim(axis))), {1}));
    inner = inner * x.dim(axis);
  }
  return builder.status().ok() ? ops::Concat(columns, 1) : x;
}

}  // namespace ember::coreml

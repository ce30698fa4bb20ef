// Imports gathers, scatters, and operators that consist of them.
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dynamic_axes.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

void ImportGather(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  if (!c.ok()) return;
  Tensor indices = NormalizeIndices(c.Input(1), x.dim(axis));
  if (indices.rank() == 0 && c.ok()) {
    // A gather with one index that is known when compiling is a slice, which
    // needs no lookup at run time.
    const std::optional<Shape> known =
        c.builder().IntegerContents(indices.value());
    if (known && known->size() == 1) {
      return c.SetOutput(
          0, Squeeze(SliceAxis(x, axis, known->front(), Dim(1)), {axis}));
    }
  }
  c.SetOutput(0, Gather(x, indices, axis));
}

void ImportGatherElements(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  if (!c.ok()) return;
  Tensor indices = NormalizeIndices(c.Input(1), x.dim(axis));
  c.SetOutput(
      0, Apply("gather_elements", {x, indices}, {{"axis", int64_t{axis}}}));
}

// Normalizes index tuples: the last dim of `indices` addresses the dims of
// `shape` from `first` on, and negative indices count from the end of each.
Tensor NormalizeIndexTuples(NodeContext& c, Tensor indices, const Shape& shape,
                            int first) {
  const Dim& length = indices.dim(-1);
  if (!length.is_constant() || length.constant() < 1 ||
      first + length.constant() > static_cast<int64_t>(shape.size())) {
    c.FailInvalid("indices: expected tuples of 1 to " +
                  std::to_string(shape.size() - first) + " elements, found " +
                  graph::ShapeToString(indices.shape()) +
                  (length.is_constant() ? "" : "; fix the dims with --shape"));
    return c.Wrap(nullptr);
  }
  const Shape extents(shape.begin() + first,
                      shape.begin() + first + length.constant());
  Tensor wide = Cast(indices, DType::kI64);
  Tensor sizes = c.Wrap(c.builder().ShapeValue(extents));
  return Select(Less(wide, 0), wide + sizes, wide);
}

void ImportGatherNd(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  Tensor x = c.Input(0);
  const int64_t batch_dims = c.Integer("batch_dims", 0);
  if (batch_dims < 0 || batch_dims >= std::min(x.rank(), c.Input(1).rank())) {
    return c.FailInvalid(
        "attribute 'batch_dims': expected a value below both ranks, found " +
        std::to_string(batch_dims));
  }
  Tensor indices = NormalizeIndexTuples(c, c.Input(1), x.shape(),
                                        static_cast<int>(batch_dims));
  c.SetOutput(0,
              Apply("gather_nd", {x, indices}, {{"batch_dims", batch_dims}}));
}

// Returns the update rule of the graph's scatters for the attribute
// `reduction`; nullopt after an error.
std::optional<std::string> ReadUpdate(NodeContext& c) {
  const std::string reduction = c.String("reduction", "none");
  if (reduction == "none") return "assign";
  if (c.Input(0).carried_type() != 0) {
    c.FailUnsupported(
        "attribute 'reduction': expected none for operands of type " +
        OnnxTypeName(c.Input(0).carried_type()));
    return std::nullopt;
  }
  if (reduction == "add") return "add";
  if (reduction == "mul") return "multiply";
  if (reduction == "min") return "minimum";
  if (reduction == "max") return "maximum";
  c.FailInvalid(
      "attribute 'reduction': expected none, add, mul, min or max, found '" +
      reduction + "'");
  return std::nullopt;
}

void ImportScatterElements(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  const std::optional<std::string> update = ReadUpdate(c);
  if (!update || !c.ok()) return;
  Tensor indices = NormalizeIndices(c.Input(1), x.dim(axis));
  c.SetOutput(0, Apply("scatter_elements", {x, indices, c.Input(2)},
                       {{"axis", int64_t{axis}}, {"update", *update}}));
}

void ImportScatterNd(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  Tensor x = c.Input(0);
  const std::optional<std::string> update = ReadUpdate(c);
  if (!update) return;
  // The updates have the shape [the dims of the indices except the last…, the
  // dims of x that a tuple does not address…]. So if the length of a tuple (the
  // last dim of the indices) is open, it follows from the ranks.
  Tensor indices = c.Input(1);
  const int length = indices.rank() - 1 + x.rank() - c.Input(2).rank();
  if (length >= 1) indices = WithDim(indices, -1, Dim(length));
  indices = NormalizeIndexTuples(c, indices, x.shape(), 0);
  c.SetOutput(
      0, Apply("scatter_nd", {x, indices, c.Input(2)}, {{"update", *update}}));
}

// Imports OneHot. The operand `values` is [off, on]; an index outside [-depth,
// depth) gives `off` for all positions.
void ImportOneHot(NodeContext& c) {
  // The operand `depth` may have any numeric type, so it is cast to i64 before
  // its value is read.
  const std::optional<Shape> depth =
      c.Sizes(Cast(c.Input(1), DType::kI64), "depth (input 1)");
  if (!depth) return;
  if (depth->size() != 1)
    return c.FailInvalid("depth (input 1): expected one element");
  if (!c.CheckRank(2, 1, 1)) return;
  const int rank = c.Input(0).rank() + 1;
  const int axis = c.Axis(c.Integer("axis", -1), rank);
  if (!c.ok()) return;
  Tensor indices = Cast(c.Input(0), DType::kI64);
  indices = Select(Less(indices, 0),
                   indices + DimScalar(c.builder(), depth->front()), indices);
  Tensor positions = AlongAxis(
      IotaVector(c.builder(), depth->front(), DType::kI64), axis, rank);
  Tensor hit = Equal(positions, Unsqueeze(indices, {axis}));
  Tensor off = Reshape(SliceAxis(c.Input(2), 0, Dim(0), Dim(1)), {});
  Tensor on = Reshape(SliceAxis(c.Input(2), 0, Dim(1), Dim(1)), {});
  c.SetOutput(0, Select(hit, on, off));
}

// Imports ReverseSequence: for each element b of the batch, reverses the first
// lengths[b] steps, and keeps the steps after them.
void ImportReverseSequence(NodeContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1, 1)) return;
  Tensor x = c.Input(0);
  const int time = c.Axis(c.Integer("time_axis", 0), x.rank());
  const int batch = c.Axis(c.Integer("batch_axis", 1), x.rank());
  if (!c.ok()) return;
  if (time == batch)
    return c.FailInvalid("time_axis and batch_axis: expected different axes");
  Tensor lengths = AlongAxis(Cast(c.Input(1), DType::kI64), batch, x.rank());
  Tensor step = AlongAxis(IotaVector(c.builder(), x.dim(time), DType::kI64),
                          time, x.rank());
  Tensor source = Select(Less(step, lengths), lengths - 1.0 - step, step);
  c.SetOutput(0, Apply("gather_elements", {x, Broadcast(source, x.shape())},
                       {{"axis", int64_t{time}}}));
}

// Returns running sums or products along one axis of x.
Tensor ScanAlongAxis(NodeContext& c, Tensor x, int axis, Opcode opcode,
                     double identity) {
  const bool reverse = c.Integer("reverse", 0) != 0;
  if (reverse) x = Reverse(x, axis);
  if (c.Integer("exclusive", 0) != 0) {
    Shape low(x.rank(), Dim(0));
    Shape high(x.rank(), Dim(0));
    low[axis] = Dim(1);
    high[axis] = Dim(-1);
    x = Pad(x, low, high, "constant", x.Like(identity));
  }
  x = InclusiveScan(x, axis, opcode, identity);
  return reverse ? Reverse(x, axis) : x;
}

void ImportScanAlongAxis(NodeContext& c, Opcode opcode, double identity) {
  if (!c.CheckRank(0, 1)) return;
  const DType type = c.Input(0).dtype();
  const Tensor x = Cast(c.Input(0), ComputeType(type));
  if (c.ok() && c.Input(1) && !c.IsKnown(1)) {
    const std::optional<Tensor> axis = ReadDynamicAxes(c, 1, x.rank());
    if (!axis) return;
    if (axis->dim(0) != Dim(1))
      return c.FailInvalid("axis (input 1): expected one element");
    const AxisOrder order = AxesLast(*axis, x.rank());
    const Tensor y = ScanAlongAxis(c, PermuteByData(c, x, order.source),
                                   x.rank() - 1, opcode, identity);
    return c.SetOutput(0,
                       Cast(PermuteByData(c, y, order.place, x.shape()), type));
  }
  const std::optional<std::vector<int64_t>> given =
      c.ConstantIntegers(1, "axis");
  if (!given) return;
  if (given->size() != 1)
    return c.FailInvalid("axis (input 1): expected one element");
  const int axis = c.Axis(given->front(), x.rank());
  if (!c.ok()) return;
  c.SetOutput(0, Cast(ScanAlongAxis(c, x, axis, opcode, identity), type));
}

void ImportCumSum(NodeContext& c) { ImportScanAlongAxis(c, Opcode::kAdd, 0); }
void ImportCumProd(NodeContext& c) {
  ImportScanAlongAxis(c, Opcode::kMultiply, 1);
}

constexpr OperatorRow kRows[] = {
    {"CumProd", 1, 2, 2, ImportCumProd},
    {"CumSum", 11, 2, 2, ImportCumSum},
    {"Gather", 1, 2, 2, ImportGather, "", Moves({0})},
    {"GatherElements", 11, 2, 2, ImportGatherElements, "", Moves({0})},
    {"GatherND", 11, 2, 2, ImportGatherNd, "", Moves({0})},
    {"GatherND", 1, 2, 2, ImportGatherNd, "com.microsoft", Moves({0})},
    {"OneHot", 9, 3, 3, ImportOneHot, "", Moves({2})},
    {"ReverseSequence", 10, 2, 2, ImportReverseSequence, "", Moves({0})},
    {"Scatter", 9, 3, 3, ImportScatterElements, "", Moves({0, 2})},
    {"ScatterElements", 11, 3, 3, ImportScatterElements, "", Moves({0, 2})},
    {"ScatterND", 11, 3, 3, ImportScatterNd, "", Moves({0, 2})},
};

}  // namespace

std::span<const OperatorRow> IndexingOperators() { return kRows; }

}  // namespace ember::onnx

// DeformConv: a convolution whose window elements are read where computed
// offsets say, with interpolation (Dai et al. 2017), and weighed by a mask (Zhu
// et al. 2018).
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operator_table.h"
#include "frontends/onnx/windows.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// What the operands' shapes say, and the attributes.
struct DeformShape {
  Window window;
  int64_t groups = 1;         // of channels, as in Conv
  int64_t offset_groups = 1;  // channels that share offsets
  int64_t elements = 1;       // of the window
  Shape output;               // spatial
  Dim points;                 // of the output
};

std::optional<DeformShape> ReadShape(NodeContext& c) {
  Tensor x = c.Input(0);
  Tensor w = c.Input(1);
  const int rank = x.rank();
  if (!c.CheckRank(0, 3) || !c.CheckRank(1, rank, rank) ||
      !c.CheckRank(2, rank, rank)) {
    return std::nullopt;
  }
  const std::optional<std::vector<int64_t>> kernel =
      AsConstants(Shape(w.shape().begin() + 2, w.shape().end()));
  if (!kernel) {
    c.FailUnsupported("weights (input 1): expected a constant shape");
    return std::nullopt;
  }
  if (c.Integers("kernel_shape", *kernel) != *kernel) {
    c.FailInvalid("attribute 'kernel_shape' differs from the weights' shape");
    return std::nullopt;
  }
  std::optional<Window> window =
      ReadWindow(c, *kernel, Shape(x.shape().begin() + 2, x.shape().end()));
  if (!window) return std::nullopt;
  DeformShape shape;
  shape.window = *std::move(window);
  shape.groups = c.Integer("group", 1);
  shape.offset_groups = c.Integer("offset_group", 1);
  if (shape.groups < 1 || shape.offset_groups < 1 ||
      shape.groups > kMaximumWindow || shape.offset_groups > kMaximumWindow) {
    c.FailInvalid("attributes 'group', 'offset_group': expected at least 1");
    return std::nullopt;
  }
  for (int64_t extent : *kernel) shape.elements *= extent;
  const Shape& offset = c.Input(2).shape();
  shape.output = Shape(offset.begin() + 2, offset.end());
  shape.points = ElementCount(shape.output);
  return shape;
}

// Along one spatial axis, where each element of the window is read, [N, offset
// group, element, point]: at its place in the padded input, plus the offset.
Tensor Positions(NodeContext& c, const DeformShape& shape, int axis,
                 Tensor offsets) {
  const int spatial = shape.window.rank();
  const DType type = offsets.dtype();
  Tensor place = IotaVector(c.builder(), shape.output[axis], type) *
                     static_cast<double>(shape.window.strides[axis]) -
                 Cast(DimScalar(c.builder(), shape.window.low[axis]), type);
  Tensor points = Reshape(
      Broadcast(AlongAxis(place, axis, spatial), shape.output), {shape.points});
  const Shape kernel(shape.window.kernel.begin(), shape.window.kernel.end());
  Tensor element = IotaVector(c.builder(), kernel[axis], type) *
                   static_cast<double>(shape.window.dilations[axis]);
  Tensor elements =
      Reshape(Broadcast(AlongAxis(element, axis, spatial), kernel),
              {Dim(shape.elements), Dim(1)});
  // [N, offset group, element, axis, point]
  Tensor offset = Squeeze(SliceAxis(offsets, 3, Dim(axis), Dim(1)), {3});
  return offset + (elements + points);
}

// The element before (0) or after (1) a position, as an index and a weight that
// is 0 outside the input.
struct Neighbour {
  Tensor index;
  Tensor weight;
};

Neighbour NeighbourOf(NodeContext& c, Tensor position, const Dim& extent,
                      int side) {
  Tensor low = Floor(position);
  Tensor fraction = position - low;
  Tensor place = side == 0 ? low : low + 1.0;
  Tensor weight = side == 0 ? 1.0 - fraction : fraction;
  Tensor end = Cast(DimScalar(c.builder(), extent), position.dtype());
  Tensor inside = And(LessEqual(0, place), Less(place, end));
  return {Cast(Select(inside, place, place.Like(0)), DType::kI64),
          Select(inside, weight, weight.Like(0))};
}

// The input at the positions, [N, offset group, channels of it, element *
// point]: a sum over the corners around each.
Tensor Sample(NodeContext& c, const DeformShape& shape, Tensor x,
              const std::vector<Tensor>& positions) {
  const int spatial = shape.window.rank();
  const Dim channels = FloorDivide(x.dim(1), Dim(shape.offset_groups));
  const Dim reads = shape.points * Dim(shape.elements);
  Tensor flat =
      Reshape(x, {x.dim(0), Dim(shape.offset_groups), channels,
                  ElementCount(Shape(x.shape().begin() + 2, x.shape().end()))});
  Tensor sum;
  for (int corner = 0; corner < 1 << spatial; ++corner) {
    Tensor index;
    Tensor weight;
    for (int axis = 0; axis < spatial; ++axis) {
      const Neighbour at =
          NeighbourOf(c, positions[axis], x.dim(axis + 2), corner >> axis & 1);
      index = index ? index * DimScalar(c.builder(), x.dim(axis + 2)) + at.index
                    : at.index;
      weight = weight ? weight * at.weight : at.weight;
    }
    const Shape per_group{x.dim(0), Dim(shape.offset_groups), Dim(1), reads};
    const Shape per_channel{x.dim(0), Dim(shape.offset_groups), channels,
                            reads};
    Tensor value =
        Apply("gather_elements",
              {flat, Broadcast(Reshape(index, per_group), per_channel)},
              {{"axis", int64_t{3}}}) *
        Reshape(weight, per_group);
    sum = sum ? sum + value : value;
  }
  return sum;
}

void ImportDeformConv(NodeContext& c) {
  const std::optional<DeformShape> shape = ReadShape(c);
  if (!shape) return;
  const DType result_type = c.Input(0).dtype();
  const DType type = ComputeType(result_type);
  Tensor x = Cast(c.Input(0), type);
  Tensor w = Cast(c.Input(1), type);
  const Dim& batch = x.dim(0);
  const int spatial = shape->window.rank();
  // Offsets lie one window element after the other, one number per axis in
  // each.
  Tensor offsets = Reshape(Cast(c.Input(2), type),
                           {batch, Dim(shape->offset_groups),
                            Dim(shape->elements), Dim(spatial), shape->points});
  std::vector<Tensor> positions;
  for (int axis = 0; axis < spatial; ++axis)
    positions.push_back(Positions(c, *shape, axis, offsets));
  Tensor columns = Sample(c, *shape, x, positions);
  if (c.Input(4)) {
    columns = columns * Reshape(Cast(c.Input(4), type),
                                {batch, Dim(shape->offset_groups), Dim(1),
                                 shape->points * Dim(shape->elements)});
  }
  const Dim groups(shape->groups);
  const Dim per_group = FloorDivide(w.dim(0), groups);
  columns = Reshape(
      columns, {batch, groups, w.dim(1), Dim(shape->elements), shape->points});
  Tensor weights =
      Reshape(w, {groups, per_group, w.dim(1), Dim(shape->elements)});
  Tensor y = Contract(weights, columns, "gock,ngckp->ngop");
  Shape result{batch, w.dim(0)};
  result.insert(result.end(), shape->output.begin(), shape->output.end());
  y = Reshape(y, result);
  if (c.Input(3)) y = y + AlongAxis(Cast(c.Input(3), type), 1, y.rank());
  c.SetOutput(0, Cast(y, result_type));
}

constexpr OperatorRow kRows[] = {
    {"DeformConv", 19, 3, 5, ImportDeformConv},
};

}  // namespace

std::span<const OperatorRow> DeformConvOperators() { return kRows; }

}  // namespace ember::onnx

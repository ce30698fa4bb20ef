#include "frontends/ops/deform_conv.h"

#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/one_type.h"

namespace ember::ops {
namespace {

// Sizes that follow from the shapes of the operands of a deformable
// convolution.
struct DeformSizes {
  int64_t elements = 1;  // Number of elements of the window.
  Shape output;          // Spatial extents of the output.
  Dim points;            // Number of points (spatial positions) of the output.
};

Shape SpatialOf(const Tensor& x) {
  return Shape(x.shape().begin() + 2, x.shape().end());
}

// Fails if an operand [N, channels, spatial…] is known to have another shape.
void CheckShape(const Tensor& x, const char* what, const Shape& expected) {
  bool fits = x.rank() == static_cast<int>(expected.size());
  for (int i = 0; fits && i < x.rank(); ++i) {
    const auto found = x.dim(i).AsConstant();
    const auto wanted = expected[static_cast<size_t>(i)].AsConstant();
    fits = !found || !wanted || *found == *wanted;
  }
  if (fits) return;
  FailInvalid(x.builder(), std::string(what) + ": expected " +
                               graph::ShapeToString(expected) + ", found " +
                               graph::ShapeToString(x.shape()));
}

// Returns the positions along one spatial axis at which each element of the
// window is read, [N, offset group, element, point]: its regular position in
// the input, which is outside of the extent in the padding, plus the offset.
Tensor Positions(const Window& window, const DeformSizes& sizes, int axis,
                 Tensor offsets) {
  graph::GraphBuilder& builder = offsets.builder();
  const int spatial = window.rank();
  const DType type = offsets.dtype();
  Tensor place = IotaVector(builder, sizes.output[axis], type) *
                     static_cast<double>(window.strides[axis]) -
                 Cast(DimScalar(builder, window.low[axis]), type);
  Tensor points = Reshape(
      Broadcast(AlongAxis(place, axis, spatial), sizes.output), {sizes.points});
  const Shape kernel(window.kernel.begin(), window.kernel.end());
  Tensor element = IotaVector(builder, kernel[axis], type) *
                   static_cast<double>(window.dilations[axis]);
  Tensor elements =
      Reshape(Broadcast(AlongAxis(element, axis, spatial), kernel),
              {Dim(sizes.elements), Dim(1)});
  // The dims of `offsets` are [N, offset group, element, axis, point]; only the
  // offsets along `axis` are needed here.
  Tensor offset = Squeeze(SliceAxis(offsets, 3, Dim(axis), Dim(1)), {3});
  return offset + (elements + points);
}

// One of the two elements around a position along an axis, between which the
// value is interpolated: its index and its weight. The weight is 0 outside the
// input.
struct Neighbour {
  Tensor index;
  Tensor weight;
};

Neighbour NeighbourOf(Tensor position, const Dim& extent, int side,
                      bool sharp_border) {
  Tensor low = Floor(position);
  Tensor fraction = position - low;
  Tensor place = side == 0 ? low : low + 1.0;
  Tensor end = Cast(DimScalar(position.builder(), extent), position.dtype());
  Tensor inside = And(LessEqual(0, place), Less(place, end));
  if (sharp_border) {
    inside = And(inside, LessEqual(0, position));
    fraction = Select(Less(low, end - 1.0), fraction, fraction.Like(0));
  }
  Tensor weight = side == 0 ? 1.0 - fraction : fraction;
  return {Cast(Select(inside, place, place.Like(0)), DType::kI64),
          Select(inside, weight, weight.Like(0))};
}

// Returns the input sampled at the positions, [N, offset group, channels of the
// group, element * point]: a sum over the corners around each position.
Tensor Sample(const DeformConvSpec& spec, const DeformSizes& sizes, Tensor x,
              const std::vector<Tensor>& positions) {
  const int spatial = spec.window.rank();
  const Dim channels = FloorDivide(x.dim(1), Dim(spec.offset_groups));
  const Dim reads = sizes.points * Dim(sizes.elements);
  Tensor flat = Reshape(x, {x.dim(0), Dim(spec.offset_groups), channels,
                            ElementCount(SpatialOf(x))});
  Tensor sum;
  for (int corner = 0; corner < 1 << spatial; ++corner) {
    Tensor index;
    Tensor weight;
    for (int axis = 0; axis < spatial; ++axis) {
      const Neighbour at = NeighbourOf(positions[axis], x.dim(axis + 2),
                                       corner >> axis & 1, spec.sharp_border);
      index = index ? index * DimScalar(x.builder(), x.dim(axis + 2)) + at.index
                    : at.index;
      weight = weight ? weight * at.weight : at.weight;
    }
    const Shape per_group{x.dim(0), Dim(spec.offset_groups), Dim(1), reads};
    const Shape per_channel{x.dim(0), Dim(spec.offset_groups), channels, reads};
    Tensor value =
        Apply("gather_elements",
              {flat, Broadcast(Reshape(index, per_group), per_channel)},
              {{"axis", int64_t{3}}}) *
        Reshape(weight, per_group);
    sum = sum ? sum + value : value;
  }
  return sum;
}

}  // namespace

Tensor DeformConv(const DeformConvOperands& operands,
                  const DeformConvSpec& spec) {
  if (!HaveOneType({operands.x, operands.w, operands.offsets, operands.mask,
                    operands.bias}))
    return {&operands.x.builder(), nullptr};
  const DType result_type = operands.x.dtype();
  const DType type = ComputeType(result_type);
  Tensor x = Cast(operands.x, type);
  Tensor w = Cast(operands.w, type);
  const Dim& batch = x.dim(0);
  const int spatial = spec.window.rank();
  DeformSizes sizes;
  for (const int64_t extent : spec.window.kernel) {
    sizes.elements *= extent;
    if (sizes.elements > kMaxWindow) {
      FailUnsupported(x.builder(), "window: expected at most 2^24 elements");
      return x;
    }
  }
  sizes.output = SpatialOf(operands.offsets);
  sizes.points = ElementCount(sizes.output);
  const int64_t read = spec.offset_groups * sizes.elements;
  const auto per_point = [&](int64_t channels) {
    Shape expected{batch, Dim(channels)};
    expected.insert(expected.end(), sizes.output.begin(), sizes.output.end());
    return expected;
  };
  CheckShape(operands.offsets, "offsets", per_point(read * spatial));
  if (operands.mask) CheckShape(operands.mask, "mask", per_point(read));
  if (!x.builder().status().ok()) return x;
  // Makes separate dims of the group, the window element, the axis and the
  // output point, which the operand has in this order in dim 1 and the spatial
  // dims.
  Tensor offsets = Reshape(Cast(operands.offsets, type),
                           {batch, Dim(spec.offset_groups), Dim(sizes.elements),
                            Dim(spatial), sizes.points});
  std::vector<Tensor> positions;
  for (int axis = 0; axis < spatial; ++axis)
    positions.push_back(Positions(spec.window, sizes, axis, offsets));
  Tensor columns = Sample(spec, sizes, x, positions);
  if (operands.mask) {
    columns = columns * Reshape(Cast(operands.mask, type),
                                {batch, Dim(spec.offset_groups), Dim(1),
                                 sizes.points * Dim(sizes.elements)});
  }
  const Dim groups(spec.groups);
  const Dim per_group = FloorDivide(w.dim(0), groups);
  columns = Reshape(
      columns, {batch, groups, w.dim(1), Dim(sizes.elements), sizes.points});
  Tensor weights =
      Reshape(w, {groups, per_group, w.dim(1), Dim(sizes.elements)});
  Tensor y = Contract(weights, columns, "gock,ngckp->ngop");
  Shape result{batch, w.dim(0)};
  result.insert(result.end(), sizes.output.begin(), sizes.output.end());
  y = Reshape(y, result);
  if (operands.bias) y = y + AlongAxis(Cast(operands.bias, type), 1, y.rank());
  return Cast(y, result_type);
}

}  // namespace ember::ops

#include "tensor/testing/random_grid.h"

#include <algorithm>

namespace ember::tensor {

int64_t RandomGrid::SizeOf(const GridDim& dim) const {
  int64_t size = 1;
  for (int axis : dim.axes) size *= extent(axis).value;
  return size + dim.slack;
}

void RandomGrid::Merge(GridShape& shape) {
  std::vector<GridDim>& dims = shape.dims;
  for (size_t d = 0; d + 1 < dims.size();) {
    if (dims[d].axes.empty() || dims[d + 1].axes.empty() ||
        !choices_.Chance(4)) {
      ++d;
      continue;
    }
    dims[d].axes.insert(dims[d].axes.end(), dims[d + 1].axes.begin(),
                        dims[d + 1].axes.end());
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(d) + 1);
  }
}

void RandomGrid::Shuffle(GridShape& shape) {
  for (size_t i = shape.dims.size(); i > 1; --i) {
    std::swap(
        shape.dims[i - 1],
        shape.dims[static_cast<size_t>(choices_.Below(static_cast<int>(i)))]);
  }
}

GridShape RandomGrid::OperandShape() {
  GridShape shape;
  const bool is_whole = choices_.Chance(2);
  for (int axis = 0; axis < rank(); ++axis) {
    GridDim dim;
    if (is_whole || choices_.Chance(2)) {
      dim.axes.push_back(axis);
      if (!is_plain_ && choices_.Chance(8))
        dim.slack = choices_.Chance(4)
                        // The operand's dim has a single element, so that
                        // reading it along the axis mostly reads padding.
                        ? 1 - extent(axis).value
                        : std::max<int64_t>(choices_.Below(6) - 2,
                                            1 - extent(axis).value);
    } else if (!is_plain_ && choices_.Chance(3)) {
      continue;
    }
    shape.dims.push_back(std::move(dim));
  }
  // Leading dims of extent 1 are often removed, so that the operand has a lower
  // rank, as in broadcasting.
  while (!shape.dims.empty() && shape.dims.front().axes.empty() &&
         choices_.Chance(2)) {
    shape.dims.erase(shape.dims.begin());
  }
  if (is_plain_) return shape;
  if (choices_.Chance(6)) Shuffle(shape);
  Merge(shape);
  return shape;
}

GridShape RandomGrid::ResultShape(const std::vector<int>& axes) {
  GridShape shape;
  const bool keeps_dims = choices_.Chance(3);
  for (int axis = 0; axis < rank(); ++axis) {
    const bool has_axis = std::ranges::find(axes, axis) != axes.end();
    if (has_axis) {
      shape.dims.push_back({{axis}, 0});
    } else if (keeps_dims) {
      shape.dims.push_back({});
    }
  }
  if (is_plain_) return shape;
  if (choices_.Chance(6)) Shuffle(shape);
  Merge(shape);
  return shape;
}

std::vector<Extent> RandomGrid::ExtentsOf(const GridShape& shape,
                                          DispatchBuilder& builder) const {
  std::vector<Extent> extents;
  for (const GridDim& dim : shape.dims) {
    Scalar scalar = builder.Index(1);
    for (int axis : dim.axes) scalar = scalar * extent(axis).scalar;
    extents.push_back({scalar + dim.slack, SizeOf(dim)});
  }
  return extents;
}

Scalar RandomGrid::FlatIndex(const GridDim& dim, const GridPoint& point,
                             StageBuilder& stage) const {
  Scalar index = stage.Index(0);
  for (int axis : dim.axes) {
    index =
        index * extent(axis).scalar + point.values[static_cast<size_t>(axis)];
  }
  return index;
}

bool RandomGrid::Move(const GridDim& dim, const GridPoint& point,
                      StageBuilder& stage, Scalar& index) {
  const int axis = dim.axes.back();
  // low, high: the range by which the index may leave the points of the dim's
  // axes, below the first and above the last.
  int64_t low = 0, high = 0;
  if (const auto& window = point.windows[static_cast<size_t>(axis)];
      window && dim.axes.size() == 1 && !choices_.Chance(4)) {
    const int64_t dilation = choices_.Chance(3) ? 2 : 1;
    index = index + window->scalar * dilation;
    high = (window->value - 1) * dilation;
  }
  const bool is_moved = high > 0 || dim.slack != 0 || choices_.Chance(8);
  if (is_moved) {
    // The index is shifted down: by half of the window's length, as with
    // symmetric padding, or by a small random number.
    const int64_t shift = choices_.Chance(2) ? high / 2 : choices_.Below(7) - 3;
    index = index - shift;
    low -= shift;
    high -= shift;
  } else if (choices_.Chance(12)) {
    Scalar count = stage.Index(1);
    for (int merged : dim.axes) count = count * extent(merged).scalar;
    index = count - 1 - index;
  }
  return low < 0 || high > dim.slack;
}

GridIndices RandomGrid::Read(const GridShape& shape, const GridPoint& point,
                             StageBuilder& stage) {
  GridIndices read;
  for (const GridDim& dim : shape.dims) {
    Scalar index = FlatIndex(dim, point, stage);
    if (!dim.axes.empty() && (!is_plain_ || choices_.Chance(6)))
      read.may_be_outside |= Move(dim, point, stage, index);
    else
      read.may_be_outside |= dim.slack < 0;
    read.indices.push_back(index);
  }
  return read;
}

std::vector<Scalar> RandomGrid::Write(const GridShape& shape,
                                      const GridPoint& point,
                                      StageBuilder& stage) const {
  std::vector<Scalar> indices;
  for (const GridDim& dim : shape.dims)
    indices.push_back(FlatIndex(dim, point, stage));
  return indices;
}

}  // namespace ember::tensor

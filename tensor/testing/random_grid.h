// Gives random dispatches the operands, results and axes that fused models
// have: all over one grid of extents, so that indices move together.
//
//   RandomGrid grid(choices, {N, 4, 5}, /*is_plain=*/false);
//   GridShape shape = grid.OperandShape();        // such as [N, 1, 5], [N, 20]
//   AddBuffer(..., grid.ExtentsOf(shape));
//   GridPoint point = ...;                        // (i, j, k) of a stage
//   GridIndices read = grid.Read(shape, point);   // such as [i, 0, k - 1]
//
// A dim of an operand is an axis of the grid, several of them merged, one of
// extent 1 that is read at 0 (broadcast), or one longer or shorter than the
// axis, which is read as a slice or with padding. Extents may be open. Internal
// to MakeRandomCase.
#ifndef EMBER_TENSOR_TESTING_RANDOM_GRID_H_
#define EMBER_TENSOR_TESTING_RANDOM_GRID_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/builder/builder.h"
#include "tensor/testing/random_values.h"

namespace ember::tensor {

// An extent, as the builder knows it and as the number that it will be.
struct Extent {
  Scalar scalar;
  int64_t value = 0;
};

struct GridDim {
  // axes of the grid in this dim, slowest first; none: extent 1
  std::vector<int> axes;
  int64_t slack = 0;  // number of elements beyond the points of the axes
};

struct GridShape {
  std::vector<GridDim> dims;
};

// A point of the grid: a value per axis, and the windows that move along axes.
struct GridPoint {
  std::vector<Scalar> values;
  std::vector<std::optional<Extent>> windows;
};

struct GridIndices {
  std::vector<Scalar> indices;
  bool may_be_outside = false;
};

class RandomGrid {
 public:
  // Makes a grid. is_plain: no operand is transposed, merged, longer or
  // shorter. The choices must outlive the grid. No extent is 0.
  RandomGrid(RandomChoices& choices, std::vector<Extent> extents, bool is_plain)
      : choices_(choices), extents_(std::move(extents)), is_plain_(is_plain) {}

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int axis) const {
    return extents_[static_cast<size_t>(axis)];
  }
  bool is_plain() const { return is_plain_; }

  GridShape OperandShape();
  // Returns the shape of a result with an element for each point of the axes.
  GridShape ResultShape(const std::vector<int>& axes);
  std::vector<Extent> ExtentsOf(const GridShape& shape,
                                DispatchBuilder& builder) const;

  GridIndices Read(const GridShape& shape, const GridPoint& point,
                   StageBuilder& stage);
  std::vector<Scalar> Write(const GridShape& shape, const GridPoint& point,
                            StageBuilder& stage) const;

 private:
  Scalar FlatIndex(const GridDim& dim, const GridPoint& point,
                   StageBuilder& stage) const;
  int64_t SizeOf(const GridDim& dim) const;
  void Merge(GridShape& shape);
  void Shuffle(GridShape& shape);
  // Shifts the index, reverses it or adds a window to it. True if the index may
  // be out of range then.
  bool Move(const GridDim& dim, const GridPoint& point, StageBuilder& stage,
            Scalar& index);

  RandomChoices& choices_;
  const std::vector<Extent> extents_;
  const bool is_plain_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_GRID_H_

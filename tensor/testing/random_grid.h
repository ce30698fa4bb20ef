// Gives random dispatches operands, results and axes as fused models have them:
// their shapes come from one grid of extents, so that stages read many buffers
// at related indices.
//
//   RandomGrid grid(choices, {N, 4, 5}, /*is_plain=*/false);
//   GridShape shape = grid.OperandShape();        // such as [N, 1, 5], [N, 20]
//   AddBuffer(..., grid.ExtentsOf(shape));
//   GridPoint point = ...;                        // (i, j, k) of a stage
//   GridIndices read = grid.Read(shape, point);   // such as [i, 0, k - 1]
//
// A dim of an operand is an axis of the grid, several of them merged, one of
// extent 1 that is read at 0 (broadcast), or one longer or shorter than the
// axis, which is read as a slice or with padding. Extents may depend on
// parameters. Internal to MakeRandomCase.
#ifndef EMBER_TENSOR_TESTING_RANDOM_GRID_H_
#define EMBER_TENSOR_TESTING_RANDOM_GRID_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/builder/builder.h"
#include "tensor/testing/random_values.h"

namespace ember::tensor {

// An extent of a dim: its value in the dispatch that is being built, and the
// number that it has for the case's parameters.
struct Extent {
  Scalar scalar;
  int64_t value = 0;
};

struct GridDim {
  // The axes of the grid that are merged into this dim, slowest first. If there
  // are none, the dim has the extent 1.
  std::vector<int> axes;
  int64_t slack = 0;  // Number by which the dim's extent exceeds the number of
                      // points of its axes; negative if the dim is shorter.
};

struct GridShape {
  std::vector<GridDim> dims;
};

// The values of the grid's axes at a point of a stage. An axis may also have a
// window: a reduction axis that is added to its value.
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
  // Makes a grid with these extents, of which none is 0. If is_plain, no
  // operand is transposed, merged, or longer or shorter than its axes.
  // `choices` must outlive the grid.
  RandomGrid(RandomChoices& choices, std::vector<Extent> extents, bool is_plain)
      : choices_(choices), extents_(std::move(extents)), is_plain_(is_plain) {}

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int axis) const {
    return extents_[static_cast<size_t>(axis)];
  }
  bool is_plain() const { return is_plain_; }

  GridShape OperandShape();
  // Returns the shape of a result that has one element for each point of these
  // axes.
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
  // Changes the index at random: shifts it, reverses it or adds a window's axis
  // to it. Returns true if the index may then be out of range, so that the
  // caller must pad.
  bool Move(const GridDim& dim, const GridPoint& point, StageBuilder& stage,
            Scalar& index);

  RandomChoices& choices_;
  const std::vector<Extent> extents_;
  const bool is_plain_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_GRID_H_

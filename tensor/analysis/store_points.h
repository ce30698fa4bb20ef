// Finds the points of a stage that store to an element: the inverse of a
// Store's indices.
//
//   StorePoints points(dispatch, stage, stage.stores[0], header);
//   for (const std::vector<int64_t>& point : *points.Of({3, 0})) ...
//
// If each index is an axis, possibly times a stride and plus an offset, the
// points are computed directly. Otherwise all points are visited once, unless
// there are too many. The caller passes a function that evaluates indices,
// because they may depend on data.
#ifndef EMBER_TENSOR_ANALYSIS_STORE_POINTS_H_
#define EMBER_TENSOR_ANALYSIS_STORE_POINTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tensor/analysis/index_algebra.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

class StorePoints {
 public:
  // a point of the stage: the values of its spatial axes
  using Point = std::vector<int64_t>;
  // Computes the indices of the element to which the stage stores at a point.
  // Returns false if the indices are not known.
  using IndexFunction =
      std::function<bool(const Point& point, std::vector<int64_t>& indices)>;

  StorePoints(const Dispatch& dispatch, const Stage& stage, const Store& store,
              const ConcreteHeader& header);

  // True if Of computes the points directly, without visiting all points of the
  // stage.
  bool is_direct() const { return is_direct_; }
  int64_t point_count() const { return point_count_; }

  // Returns the points at which the stage stores to the element with these
  // indices, in the order in which they are visited. Returns nullptr if they
  // cannot be determined. If is_direct() is false, the first call calls
  // `indices_of` for every point. The result is valid until the next call.
  const std::vector<Point>* Of(std::span<const int64_t> indices,
                               const IndexFunction& indices_of);

 private:
  struct Solution {
    // the only axis on which the index depends, by its number; -1 if the index
    // is constant
    int axis = -1;
    int64_t coefficient = 0;
    int64_t constant = 0;
  };

  const std::vector<int64_t> extents_;
  int64_t point_count_ = 1;
  bool is_direct_ = true;
  // for each index of the store, the equation index = coefficient * axis +
  // constant, which is solved for the axis
  std::vector<Solution> solutions_;
  std::vector<Point> found_;
  bool has_looked_ = false, is_known_ = true;
  std::map<std::vector<int64_t>, std::vector<Point>> points_;
  const std::vector<Point> none_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_STORE_POINTS_H_

// Iterates over the points of some axes in the order in which the definition of
// a dispatch visits them: the last axis varies fastest.
//
//   std::vector<int64_t> point(extents.size());
//   if (HasPoints(extents)) do { ... } while (NextPoint(point, extents));
#ifndef EMBER_TENSOR_POINTS_H_
#define EMBER_TENSOR_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ember::tensor {

inline bool HasPoints(std::span<const int64_t> extents) {
  for (int64_t extent : extents) {
    if (extent == 0) return false;
  }
  return true;
}

// Advances to the next point; the last axis varies fastest. Returns false after
// the last point.
inline bool NextPoint(std::span<int64_t> point,
                      std::span<const int64_t> extents) {
  for (size_t i = point.size(); i-- > 0;) {
    if (++point[i] < extents[i]) return true;
    point[i] = 0;
  }
  return false;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_POINTS_H_

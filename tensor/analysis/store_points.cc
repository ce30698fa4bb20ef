#include "tensor/analysis/store_points.h"

#include "tensor/points.h"

namespace ember::tensor {
StorePoints::StorePoints(const Dispatch& dispatch, const Stage& stage,
                         const Store& store, const ConcreteHeader& header)
    : extents_(header.Extents(stage.spatial)) {
  for (const int64_t extent : extents_) point_count_ *= extent;
  const StageAnalysis analysis(dispatch, stage, header);
  std::vector<bool> is_told(extents_.size());
  for (const Register reg : store.indices) {
    const std::optional<AffineForm> form = analysis.ToAffine(reg);
    Solution& solution = solutions_.emplace_back();
    if (!form.has_value() || !form->IsAffine()) {
      is_direct_ = false;
      continue;
    }
    solution.constant = form->constant;
    for (size_t axis = 0; axis < form->coefficients.size(); ++axis) {
      if (form->coefficients[axis] == 0) continue;
      is_direct_ &= solution.axis < 0 && axis < extents_.size();
      if (!is_direct_) break;
      solution.axis = static_cast<int>(axis);
      solution.coefficient = form->coefficients[axis];
      is_direct_ &= !is_told[axis];
      is_told[axis] = true;
    }
  }
  for (size_t axis = 0; axis < extents_.size(); ++axis)
    is_direct_ &= is_told[axis] || extents_[axis] <= 1;
}

const std::vector<StorePoints::Point>* StorePoints::Of(
    std::span<const int64_t> indices, const IndexFunction& indices_of) {
  if (point_count_ == 0) return &none_;
  if (is_direct_) {
    Point point(extents_.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      const Solution& solution = solutions_[i];
      const int64_t rest = indices[i] - solution.constant;
      if (solution.axis < 0) {
        if (rest != 0) return &none_;
        continue;
      }
      const auto axis = static_cast<size_t>(solution.axis);
      point[axis] = rest / solution.coefficient;
      if (rest % solution.coefficient != 0 || point[axis] < 0 ||
          point[axis] >= extents_[axis])
        return &none_;
    }
    found_.assign(1, point);
    return &found_;
  }
  if (!has_looked_) {
    has_looked_ = true;
    Point point(extents_.size());
    std::vector<int64_t> stored(indices.size());
    do {
      is_known_ = indices_of(point, stored);
      if (!is_known_) break;
      points_[stored].push_back(point);
    } while (NextPoint(point, extents_));
  }
  if (!is_known_) return nullptr;
  const auto found = points_.find({indices.begin(), indices.end()});
  return found == points_.end() ? &none_ : &found->second;
}

}  // namespace ember::tensor

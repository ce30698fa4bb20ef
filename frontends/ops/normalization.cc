#include "frontends/ops/normalization.h"

#include <utility>

namespace ember::ops {

Tensor CorrectedMean(Tensor x, const std::vector<int64_t>& axes) {
  Tensor mean = Mean(x, axes, true);
  return mean + Mean(x - mean, axes, true);
}

Tensor Variance(Tensor x, Tensor mean, std::vector<int64_t> axes) {
  Tensor centered = x - mean;
  return Mean(centered * centered, std::move(axes), true);
}

Tensor Standardized(Tensor x, const std::vector<int64_t>& axes, double epsilon,
                    MeanKind mean) {
  const Tensor center =
      mean == MeanKind::kPlain ? Mean(x, axes, true) : CorrectedMean(x, axes);
  return (x - center) / Sqrt(Variance(x, center, axes) + epsilon);
}

Tensor GroupStandardized(Tensor x, int axis, int64_t groups, double epsilon,
                         MeanKind mean) {
  if (!x.HasDim(axis)) return x;
  // The channel axis is split into two dims, (groups, channels of a group), so
  // that the statistics can be reduced over the second one.
  Shape split;
  std::vector<int64_t> reduced;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) split.push_back(Dim(groups));
    if (i > 0) reduced.push_back(static_cast<int64_t>(split.size()));
    split.push_back(i == axis ? FloorDivide(x.dim(i), Dim(groups)) : x.dim(i));
  }
  return Reshape(Standardized(Reshape(x, split), reduced, epsilon, mean),
                 x.shape());
}

}  // namespace ember::ops

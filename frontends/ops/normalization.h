// The definition of normalisation: subtract the mean, divide by the deviation.
//
//   Tensor y = Standardized(x, axes, 1e-5);                    // layer norm
//   Tensor y = GroupStandardized(x, /*axis=*/1, groups, 1e-5); // group norm
//
// Scale and shift are the caller's, as formats store them differently. Callers
// cast narrow floats to ComputeType first. Errors stay in the graph builder.
#ifndef EMBER_FRONTENDS_OPS_NORMALIZATION_H_
#define EMBER_FRONTENDS_OPS_NORMALIZATION_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns mean(x) over the axes, which stay as dims of 1, corrected for the
// rounding of the sum. If the mean is large compared with the spread, that
// rounding would be as large as x - mean.
Tensor CorrectedMean(Tensor x, const std::vector<int64_t>& axes);
// Returns mean((x - mean)²) over the axes, which stay as dims of 1.
Tensor Variance(Tensor x, Tensor mean, std::vector<int64_t> axes);

// The way in which Standardized computes the mean. kCorrected removes the
// rounding error of the sum; kPlain does not, which saves two passes over x.
enum class MeanKind : uint8_t { kCorrected, kPlain };

// Returns (x - mean) / sqrt(variance + epsilon), with the statistics of x over
// the axes.
Tensor Standardized(Tensor x, const std::vector<int64_t>& axes, double epsilon,
                    MeanKind mean = MeanKind::kCorrected);

// Does the same with the statistics of each group of slices along `axis`, over
// all other dims but the first. `groups` must divide the extent of the axis.
Tensor GroupStandardized(Tensor x, int axis, int64_t groups, double epsilon,
                         MeanKind mean = MeanKind::kCorrected);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_NORMALIZATION_H_

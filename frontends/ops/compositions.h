// Formulas from which operators of several formats are composed.
#ifndef EMBER_FRONTENDS_OPS_COMPOSITIONS_H_
#define EMBER_FRONTENDS_OPS_COMPOSITIONS_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

Tensor Relu(Tensor x);
Tensor Sigmoid(Tensor x);
// Gelu returns x times the normal distribution's probability below x. TanhGelu
// approximates Gelu by a hyperbolic tangent.
Tensor Gelu(Tensor x);
Tensor TanhGelu(Tensor x);
// Returns log(1 + exp(x)), without overflow.
Tensor Softplus(Tensor x);
// Returns log(softmax(x)) along an axis. Narrow floats are computed in f32.
Tensor LogSoftmax(Tensor x, int axis);
// Returns mean(x) over the axes, which stay as dims of 1, corrected for the
// rounding of the sum. Without the correction, the rounding error would be as
// large as x - mean if the mean is large compared with the spread.
Tensor CorrectedMean(Tensor x, const std::vector<int64_t>& axes);
// Returns mean((x - mean)²) over the axes, which stay as dims of 1.
Tensor Variance(Tensor x, Tensor mean, std::vector<int64_t> axes);
// Converts indices to i64, and negative ones, which count from the end of the
// axis, to indices from the front. The results are in range if the operands
// are.
Tensor NormalizeIndices(Tensor indices, const Dim& extent);
// Returns a dim, which may be an expression, as an i64 scalar.
Tensor DimScalar(graph::GraphBuilder& builder, const Dim& dim);
// Returns x with an open dim assumed to be `extent`, which the program checks.
// It is for dims that must be equal and would otherwise broadcast.
Tensor WithDim(Tensor x, int axis, const Dim& extent);
// Repeats each slice along an axis `times` times; the copies are adjacent.
Tensor RepeatEach(Tensor x, int axis, const Dim& times);
// Returns x with the order of the slices along an axis reversed.
Tensor Reverse(Tensor x, int axis);
// Returns a scan along an axis: each result combines an element with all
// elements before it, as running sums and products do. `identity` is the
// neutral element of the opcode.
Tensor InclusiveScan(Tensor x, int axis, Opcode opcode, double identity);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_COMPOSITIONS_H_

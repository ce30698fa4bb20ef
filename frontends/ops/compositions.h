// Formulas that operators of several formats are made of.
#ifndef EMBER_FRONTENDS_OPS_COMPOSITIONS_H_
#define EMBER_FRONTENDS_OPS_COMPOSITIONS_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

Tensor Relu(Tensor x);
Tensor Sigmoid(Tensor x);
// x times the normal distribution's probability below x, and its approximation
// by a hyperbolic tangent.
Tensor Gelu(Tensor x);
Tensor TanhGelu(Tensor x);
// log(1 + exp(x)), without overflow.
Tensor Softplus(Tensor x);
// log(softmax(x)) along an axis, narrow floats in f32.
Tensor LogSoftmax(Tensor x, int axis);
// mean(x) over the axes, which stay as 1, as if rounded once: where it is large
// beside the spread, the rounding of the sum would be as large as what is left
// of x - mean.
Tensor CorrectedMean(Tensor x, const std::vector<int64_t>& axes);
// mean((x - mean)²) over the axes, which stay as 1.
Tensor Variance(Tensor x, Tensor mean, std::vector<int64_t> axes);
// Negative indices count from the end of the axis; the result is i64 and in
// range if the given are.
Tensor NormalizeIndices(Tensor indices, const Dim& extent);
// An i64 scalar of an expression.
Tensor DimScalar(graph::GraphBuilder& builder, const Dim& dim);
// The same with an open dim taken to be `extent`, which the program checks: for
// dims that must be equal, where others would broadcast.
Tensor WithDim(Tensor x, int axis, const Dim& extent);
// Each slice along an axis that x has, `times` times in a row.
Tensor RepeatEach(Tensor x, int axis, const Dim& times);
// The last slice along the axis first.
Tensor Reverse(Tensor x, int axis);
// Each element combined with all before it along an axis: running sums,
// products and so on. `identity` changes nothing.
Tensor InclusiveScan(Tensor x, int axis, Opcode opcode, double identity);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_COMPOSITIONS_H_

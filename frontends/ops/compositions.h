// Formulas from which operators of several formats are composed.
#ifndef EMBER_FRONTENDS_OPS_COMPOSITIONS_H_
#define EMBER_FRONTENDS_OPS_COMPOSITIONS_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns log(softmax(x)) along an axis. Narrow floats are computed in f32.
Tensor LogSoftmax(Tensor x, int axis);
// Converts indices to i64, and negative ones, which count from the end of the
// axis, to indices from the front. The results are in range if the operands
// are.
Tensor NormalizeIndices(Tensor indices, const Dim& extent);
// Returns a dim, which may be an expression, as an i64 scalar.
Tensor DimScalar(graph::GraphBuilder& builder, const Dim& dim);
// Returns x with the extent of an axis assumed to be `extent`, which the
// program checks. It is for dims that must be equal: without it, an open dim
// might broadcast. Two different constants are left for the caller to compare.
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

// Handles axes that are known only at run time, while their number is known
// when compiling. The operand's dims are permuted by index arithmetic on these
// values, so that the axes become known dims.
//
//   const auto axes = ReadDynamicAxes(c, 1, x.rank());
//   const AxisOrder order = AxesLast(*axes, x.rank());
//   Tensor moved = PermuteByData(c, x, order.source);   // axes are the last dims
//   …
//   Tensor y = PermuteByData(c, moved, order.place, x.shape());
//
// All values are i64. Errors stay in the builder, as those of all importers.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_DYNAMIC_AXES_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_DYNAMIC_AXES_H_

#include <optional>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Reads the operand as axes of a tensor of rank `rank`, [count]. The program
// adds the rank to negative axes, and fails unless all are in range and
// different. Fails, and returns nullopt, if the number of axes is not known.
std::optional<Tensor> ReadDynamicAxes(NodeContext& c, int input, int rank);
// Checks axes [count] that the caller has read from operand `input`, and
// returns them like ReadDynamicAxes. Their number may be open.
std::optional<Tensor> CheckDynamicAxes(NodeContext& c, int input, Tensor axes,
                                       int rank);

// Returns [rank]: 1 where a dim is one of the axes, else 0.
Tensor AxisMask(Tensor axes, int rank);

struct AxisOrder {
  // [rank]: source[i] is the dim of x that becomes dim i of the permuted
  // tensor.
  Tensor source;
  Tensor place;  // [rank]: the inverse; dim i of x becomes dim place[i].
};
// Returns the permutation that puts the dims that are no axes first, in
// ascending order, and then the axes in their given order.
AxisOrder AxesLast(Tensor axes, int rank);

// Transposes x: dim i of the result is dim permutation[i] of x. `shape` is the
// result's shape, if it is known.
Tensor PermuteByData(NodeContext& c, Tensor x, Tensor permutation,
                     const std::optional<Shape>& shape = std::nullopt);

// Returns one value per dim, [rank]. A dim that is one of the axes gets the
// element of `values` [count] that belongs to the axis; any other dim gets its
// element of `otherwise` [rank].
Tensor SpreadOverDims(Tensor axes, Tensor values, Tensor otherwise, int rank);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_DYNAMIC_AXES_H_

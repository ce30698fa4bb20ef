// Axes that only the data tells, of which the number is known: the operand's
// dims are brought into an order in which the axes are known ones, by index
// arithmetic that the program's values decide.
//
//   const auto axes = ReadDynamicAxes(c, 1, x.rank());
//   const AxisOrder order = AxesLast(*axes, x.rank());
//   Tensor moved = PermuteByData(c, x, order.source);   // axes are the last dims
//   …
//   Tensor y = PermuteByData(c, moved, order.place, x.shape());
//
// All values are i64. Errors stick to the builder, as everywhere.
#ifndef EMBER_FRONTENDS_ONNX_DYNAMIC_AXES_H_
#define EMBER_FRONTENDS_ONNX_DYNAMIC_AXES_H_

#include <optional>

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// The operand as axes of something of rank `rank`, [count]: the program adds
// the rank to negative ones and fails unless each is in range and no two are
// alike. Fails where the number of axes is not known.
std::optional<Tensor> ReadDynamicAxes(NodeContext& c, int input, int rank);

// [rank]: 1 where a dim is one of the axes, else 0.
Tensor AxisMask(Tensor axes, int rank);

struct AxisOrder {
  Tensor source;  // [rank]: which dim comes in this place
  Tensor place;   // [rank]: in which place this dim comes
};
// The dims that are no axes in their order, then the axes in theirs.
AxisOrder AxesLast(Tensor axes, int rank);

// A transposition: dim i of the result is dim permutation[i] of x. `shape`: the
// result's, where it is known.
Tensor PermuteByData(NodeContext& c, Tensor x, Tensor permutation,
                     const std::optional<Shape>& shape = std::nullopt);

// Per dim [rank] the value of its axis, values: [count]; `otherwise` [rank] for
// dims that are none.
Tensor SpreadOverDims(Tensor axes, Tensor values, Tensor otherwise, int rank);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_DYNAMIC_AXES_H_

// Infers the extents of a statement's axes from the dims that they index.
// Internal to the parser of index notation.
//
//   y[i] = sum(r) x[i + r] * w[r]     x: f32[10], w: f32[3]
//
// An axis that is an index by itself has the extent of the dim: r is 3. Several
// such dims must be equal. The extent of any other axis is the largest for
// which the sums of axes that it is in stay in bounds: i is 10 - (3 - 1) = 8.
// Indices in pads do not count; the extent of an axis that occurs only there is
// written in the text, as in `i < 8`.
#ifndef EMBER_TENSOR_NOTATION_EXTENTS_H_
#define EMBER_TENSOR_NOTATION_EXTENTS_H_

#include <vector>

#include "base/status.h"
#include "tensor/builder/draft.h"
#include "tensor/notation/statement_parser.h"
#include "tensor/text/expression_parser.h"

namespace ember::tensor {

// Returns the extent of each axis of the statement, as nodes of the draft's
// header. Indices whose bounds are constants are then known to be in bounds.
// Errors name the axis or the tensor with its line and column.
StatusOr<std::vector<NodeId>> InferExtents(const NotationStatement& statement,
                                           const NameScope& header,
                                           Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_EXTENTS_H_

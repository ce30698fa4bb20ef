// Bands of matrices and cumulative sums, which layers of neural networks and
// operations of ML programs share.
//
//   Tensor lower = Band(x, std::nullopt, 0);
//
// Errors stick in the graph builder of the tensor.
#ifndef EMBER_FRONTENDS_COREML_MATRICES_H_
#define EMBER_FRONTENDS_COREML_MATRICES_H_

#include <cstdint>
#include <optional>

#include "frontends/ops/tensor.h"

namespace ember::coreml {

// Returns matrices (the last two dims, which x must have) with zeros outside a
// band: row - column is at most `below`, and column - row at most `above`.
// There is no limit on a side whose number is absent.
ops::Tensor Band(const ops::Tensor& x, std::optional<int64_t> below,
                 std::optional<int64_t> above);

// Returns running sums along an axis. `reverse`: the sums begin at the end of
// the axis. `exclusive`: a sum does not include the element at its own
// position.
ops::Tensor RunningSum(const ops::Tensor& x, int axis, bool exclusive,
                       bool reverse);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_MATRICES_H_

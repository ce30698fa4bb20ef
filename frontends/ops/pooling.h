// Pooling as window reductions, in the model's own order of dims.
//
//   Tensor y = AveragePool(x, window, /*first=*/1, /*include_pad=*/false);
//
// `first`: index of the first dim that the window covers, which is 2 for [N, C,
// spatial…] and 1 for [N, spatial…, C]. All dims that the window does not cover
// are kept. Operands that do not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_POOLING_H_
#define EMBER_FRONTENDS_OPS_POOLING_H_

#include <string_view>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

// `combiner`: sum, product, minimum or maximum. Elements of the padding have
// the combiner's identity.
Tensor ReduceWindow(Tensor x, std::string_view combiner, const Window& window,
                    int first);

// Returns, for each output along spatial dim i, the number of window elements
// by which an average divides. With `include_pad` elements of the padding count
// too, except for the padding that ExtendToCeil added.
Tensor CountAlong(graph::GraphBuilder& builder, const Dim& extent,
                  const Window& window, int i, bool include_pad);

// Returns the mean of the elements of each window, divided by the count of
// CountAlong. Narrow floats are summed in f32.
Tensor AveragePool(Tensor x, const Window& window, int first, bool include_pad);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_POOLING_H_

// Pooling as window reductions, in the model's own order of dims.
//
//   Tensor y = AveragePool(x, window, /*first=*/1, /*include_pad=*/false);
//
// `first`: the window's first dim; dims before it, and after its last, are
// kept. It is 2 for [N, C, spatial…], 1 for [N, spatial…, C]. Operands that do
// not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_POOLING_H_
#define EMBER_FRONTENDS_OPS_POOLING_H_

#include <string_view>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

// `combiner`: sum, product, minimum or maximum. Padding has the combiner's
// identity.
Tensor ReduceWindow(Tensor x, std::string_view combiner, const Window& window,
                    int first);

// Number of positions of the window that count, for each output along spatial
// dim i. With `include_pad` padding counts too, except for the padding that
// ExtendToCeil added.
Tensor CountAlong(graph::GraphBuilder& builder, const Dim& extent,
                  const Window& window, int i, bool include_pad);

// Returns the mean of the positions that count. Narrow floats are summed in
// f32.
Tensor AveragePool(Tensor x, const Window& window, int first, bool include_pad);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_POOLING_H_

// Pooling: windows reduced per dim, in the model's own order of dims.
//
//   Tensor y = AveragePool(x, window, /*first=*/1, /*include_pad=*/false);
//
// `first`: the window's first dim; dims before it, and after its last, stay. 2
// for [N, C, spatial…], 1 for [N, spatial…, C]. What does not fit is an error
// of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_POOLING_H_
#define EMBER_FRONTENDS_OPS_POOLING_H_

#include <string_view>

#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

// combiner: sum, product, minimum or maximum. Padding counts as its identity.
Tensor ReduceWindow(Tensor x, std::string_view combiner, const Window& window,
                    int first);

// How many positions of the window count at each place, along spatial dim i.
// With `include_pad` the padding counts, too, except for what ExtendToCeil
// added.
Tensor CountAlong(graph::GraphBuilder& builder, const Dim& extent,
                  const Window& window, int i, bool include_pad);

// The mean of what counts; narrow floats are summed in f32.
Tensor AveragePool(Tensor x, const Window& window, int first, bool include_pad);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_POOLING_H_

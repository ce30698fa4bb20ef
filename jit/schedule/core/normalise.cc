#include "jit/schedule/core/normalise.h"

#include "jit/schedule/core/collapse_axes.h"
#include "jit/schedule/core/invariant_axes.h"
#include "jit/schedule/core/order_axes.h"
#include "jit/schedule/core/split_dims.h"

namespace ember::schedule {

void Normalise(Computation& computation) {
  DropInvariantAxes(computation);
  OrderAxes(computation);
  CollapseAxes(computation);
  SplitDims(computation);
}

}  // namespace ember::schedule

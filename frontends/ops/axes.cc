#include "frontends/ops/axes.h"

#include <string>

#include "frontends/ops/errors.h"

namespace ember::ops {

int NormalizedAxis(graph::GraphBuilder& builder, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank)
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  FailInvalid(builder, "axis: expected a value in [" + std::to_string(-rank) +
                           ", " + std::to_string(rank - 1) + "], found " +
                           std::to_string(axis));
  return 0;
}

}  // namespace ember::ops

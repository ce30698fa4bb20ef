#include "frontends/ops/axes.h"

#include <algorithm>
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

std::vector<int64_t> DistinctAxes(graph::GraphBuilder& builder,
                                  const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> normalized;
  for (const int64_t axis : axes) {
    const int64_t value = NormalizedAxis(builder, axis, rank);
    if (!builder.status().ok()) return {};
    if (std::find(normalized.begin(), normalized.end(), value) !=
        normalized.end()) {
      FailInvalid(builder, "axes: expected different ones, found " +
                               std::to_string(axis) + " twice");
      return {};
    }
    normalized.push_back(value);
  }
  return normalized;
}

std::vector<int64_t> SortedAxes(graph::GraphBuilder& builder,
                                const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> normalized;
  for (const int64_t axis : axes) {
    normalized.push_back(NormalizedAxis(builder, axis, rank));
    if (!builder.status().ok()) return {};
  }
  std::sort(normalized.begin(), normalized.end());
  normalized.erase(std::unique(normalized.begin(), normalized.end()),
                   normalized.end());
  return normalized;
}

}  // namespace ember::ops

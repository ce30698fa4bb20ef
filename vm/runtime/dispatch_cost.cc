#include "vm/runtime/dispatch_cost.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/concat.h"

namespace ember::vm {
namespace {

constexpr int64_t kCacheLine = 64;

}  // namespace

int64_t PointsOf(const tensor::Dispatch& dispatch,
                 const tensor::ConcreteHeader& header) {
  int64_t total = 0;
  for (const tensor::Stage& stage : dispatch.stages) {
    int64_t points = 1;  // at most tensor::kMaximumSize
    for (const auto* axes : {&stage.spatial, &stage.reduction}) {
      for (const tensor::Axis& axis : *axes)
        points *= std::max<int64_t>(header.value(axis.extent), 1);
    }
    total = CheckedAdd(total, points).value_or(INT64_MAX);
  }
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    if (buffer.kind != tensor::BufferKind::kTemporary) continue;
    const int64_t bytes =
        header.ElementCount(buffer) * DTypeByteSize(buffer.type);
    total = CheckedAdd(total, bytes / kCacheLine).value_or(INT64_MAX);
  }
  return total;
}

Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most) {
  return ResourceExhaustedError(
      Concat({"dispatch @", dispatch.name, ": expected at most ", most,
              " points that the run may still evaluate (--max-work), found ",
              points}));
}

}  // namespace ember::vm

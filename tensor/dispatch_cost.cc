#include "tensor/dispatch_cost.h"

#include <algorithm>

#include "base/checked_math.h"

namespace ember::tensor {
namespace {

constexpr int64_t kCacheLine = 64;

}  // namespace

int64_t PointsOf(const Dispatch& dispatch, const ConcreteHeader& header) {
  int64_t total = 0;
  for (const Stage& stage : dispatch.stages) {
    // Number of points of the stage. It cannot overflow: ConcreteHeader limits
    // it to kMaxSize.
    int64_t points = 1;
    for (const auto* axes : {&stage.spatial, &stage.reduction}) {
      for (const Axis& axis : *axes)
        points *= std::max<int64_t>(header.value(axis.extent), 1);
    }
    total = CheckedAdd(total, points).value_or(INT64_MAX);
  }
  for (const Buffer& buffer : dispatch.buffers) {
    if (buffer.kind != BufferKind::kTemporary) continue;
    const int64_t bytes =
        header.ElementCount(buffer) * DTypeByteSize(buffer.type);
    total = CheckedAdd(total, bytes / kCacheLine).value_or(INT64_MAX);
  }
  return total;
}

}  // namespace ember::tensor

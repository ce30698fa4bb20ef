
#include "jit/schedule/lowering/matrix_regions.h"

#include <optional>
#include <span>

#include "base/concat.h"
#include "base/rounding.h"

namespace ember::schedule {

void FillMatrices(const StagePlan& plan, std::vector<AxisRegion>& regions,
                  tensor::ExpressionPool& pool) {
  for (const Loop& loop : plan.loops) {
    if (loop.origin != Loop::Origin::kOuter || loop.is_reduction ||
        plan.loops[loop.parent].origin != Loop::Origin::kAxis) {
      continue;
    }
    NodeId& extent = regions[plan.loops[loop.parent].axis].extent;
    const std::optional<int64_t> known = pool.IntegerConstant(extent);
    if (!known) continue;
    const int64_t filled = RoundUp(*known, loop.factor);
    extent = pool.Integer(filled);
  }
}

Status HoldInMatrices(std::string_view stage, uint32_t number,
                      loops::LoopNest& nest) {
  loops::Buffer& buffer = nest.buffers[number];
  buffer.scope = loops::MemoryScope::kRegister;
  int64_t elements = 1;
  for (NodeId extent : std::span(buffer.extents).subspan(1))
    elements *= nest.pool.IntegerConstant(extent).value_or(0);
  if (elements > 0 && elements <= loops::kMaxRegisterElements)
    return OkStatus();
  return FailedPreconditionError(
      Concat({"%", stage, ": expected at most ", loops::kMaxRegisterElements,
              " elements in matrices of a subgroup, found ", elements}));
}

}  // namespace ember::schedule

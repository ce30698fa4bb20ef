#include "jit/schedule/lowering/pad_rows.h"

#include "tensor/builder/simplify.h"

namespace ember::schedule {

void PadRows(const Schedule& schedule, loops::LoopNest& nest) {
  const Computation& computation = schedule.computation();
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const int64_t padding = schedule.plan(static_cast<int>(i)).row_padding;
    if (padding == 0) continue;
    loops::Buffer& buffer =
        nest.buffers[computation.stages[i].stores[0].buffer];
    if (buffer.scope != loops::MemoryScope::kTask || buffer.extents.empty())
      continue;
    const NodeId operands[] = {buffer.extents.back(),
                               nest.pool.Integer(padding)};
    buffer.extents.back() = tensor::Simplifier(nest.pool).Make(
        tensor::Opcode::kAdd, DType::kI64, operands);
  }
}

}  // namespace ember::schedule


#include "jit/schedule/gpu/gpu_slices.h"

#include <algorithm>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/linear.h"

namespace ember::schedule {

void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer) {
  Schedule trial = writer.schedule();
  for (const SliceCopy& copy : copies) {
    const std::string line = "double_buffer %" + copy.stage;
    if (copy.slots != 0) {
      if (copy.is_constant) {
        static_cast<void>(
            Apply("unroll %" + copy.stage + " " + copy.rounds, trial));
      }
      if (!Apply(line + " async " + std::to_string(copy.slots), trial).ok())
        return;
      continue;
    }
    if (!copy.by_registers || !copy.is_constant) {
      if (!Apply(line, trial).ok()) return;
      continue;
    }
    if (!Apply("unroll %" + copy.stage + " " + copy.rounds, trial).ok() ||
        !Apply(line + " registers", trial).ok()) {
      return;
    }
  }
  writer.Replace(std::move(trial));
}

bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto sum = tensor::Linearize(c.pool, node.operands[d]);
    if (!sum || !c.pool.IsConstant(extents[d])) return false;
    for (const tensor::LinearTerm& term : sum->terms) {
      const bool is_axis = std::ranges::any_of(
          stage.axes, [&](const auto& a) { return a.variable == term.node; });
      if (!is_axis) return false;
    }
  }
  return true;
}

bool IsReadInPlace(const Computation& c, const std::string& product) {
  const int number = c.FindStage(product);
  bool in_place = true;
  for (int reader : ConsumersOf(c, number)) {
    const ComputationStage& stage = c.stages[reader];
    ForEachLoad(c.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = c.pool[load];
      if (node.buffer != c.stages[number].stores[0].buffer) return;
      for (size_t d = 0; d < c.stages[number].stores[0].indices.size(); ++d) {
        const NodeId axis = stage.axes[d].variable;
        // An axis of one point may be read at 0.
        in_place &= node.operands[d] == axis ||
                    c.pool.IntegerConstant(c.pool[axis].operands[0]) == 1;
      }
    });
  }
  return in_place;
}

}  // namespace ember::schedule


#include "jit/schedule/lowering/stage_values.h"

#include <algorithm>
#include <set>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::schedule {

using tensor::Node;
using tensor::Opcode;
using tensor::Simplifier;

void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage) {
  for (const ComputationStore& store : computation.stages[stage].stores) {
    if (computation.buffers[store.buffer].role == BufferRole::kOutput) continue;
    loops::Buffer& buffer = nest.buffers[store.buffer];
    buffer.scope = loops::MemoryScope::kTask;
    buffer.extents.clear();
    RegionStorage& kept = storage[store.buffer].emplace();
    kept.invocation = invocation;
    // In an invocation loop each invocation needs elements of its own, because
    // all compute at the same time. So the buffer's first index is the
    // invocation.
    if (invocation)
      buffer.extents.push_back(nest.pool[*invocation].operands[0]);
    for (size_t d = 0; d < computation.buffers[store.buffer].extents.size();
         ++d) {
      kept.bases.push_back(regions[d].base);
      buffer.extents.push_back(regions[d].extent);
    }
  }
}

std::optional<NodeId> StageValues::ReplaceAxis(NodeId id) const {
  if (c_.pool[id].opcode != Opcode::kAxis) return std::nullopt;
  const auto& axes = c_.stages[s_.stage].axes;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].variable == id) return s_.axes[a];
  }
  return std::nullopt;
}

std::optional<NodeId> StageValues::Rebuild(NodeId id,
                                           std::span<const NodeId> operands) {
  const Node& node = c_.pool[id];
  if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
    return MakeLoad(id, {operands.begin(), operands.end()});
  return std::nullopt;
}

std::vector<NodeId> StageValues::Convert(std::span<const NodeId> values) {
  Rewriter rewriter(
      c_.pool, nest_.pool, [&](NodeId id) { return ReplaceAxis(id); },
      [&](NodeId id, std::span<const NodeId> operands) {
        return Rebuild(id, operands);
      });
  return rewriter.Rewrite(values);
}

std::vector<NodeId> StageValues::ConvertFold(
    std::span<const NodeId> results, std::span<const NodeId> accumulators,
    std::span<const NodeId> elements) {
  Rewriter rewriter(
      c_.pool, nest_.pool,
      [&](NodeId id) -> std::optional<NodeId> {
        const Node& node = c_.pool[id];
        if (node.opcode == Opcode::kAccumulator)
          return accumulators[node.immediate];
        if (node.opcode == Opcode::kElement) return elements[node.immediate];
        return std::nullopt;
      },
      [&](NodeId id, std::span<const NodeId> operands) {
        return Rebuild(id, operands);
      });
  return rewriter.Rewrite(results);
}

std::vector<NodeId> StageValues::StoreIndices(const ComputationStore& store) {
  std::vector<NodeId> indices = Convert(store.indices);
  const std::optional<RegionStorage>& storage = storage_[store.buffer];
  for (size_t d = 0; d < indices.size(); ++d) {
    const NodeId original = c_.buffers[store.buffer].extents[d];
    // If only a region of the buffer is kept, all indices are already proved to
    // be in bounds, so no check is added.
    if (!tensor::ProvablyInBounds(c_.pool, store.indices[d], original)) {
      Check(store.buffer, static_cast<uint32_t>(d), indices[d],
            nest_.buffers[store.buffer].extents[d]);
    }
    if (storage) {
      const NodeId operands[] = {indices[d], storage->bases[d]};
      indices[d] =
          Simplifier(nest_.pool).Make(Opcode::kSubtract, DType::kI64, operands);
    }
  }
  if (storage && storage->invocation)
    indices.insert(indices.begin(), *storage->invocation);
  return indices;
}

NodeId StageValues::MakeLoad(NodeId id, std::vector<NodeId> operands) {
  const Node& node = c_.pool[id];
  const std::optional<RegionStorage>& storage = storage_[node.buffer];
  const bool per_invocation = storage && storage->invocation;
  const std::span<const NodeId> extents =
      std::span<const NodeId>(nest_.buffers[node.buffer].extents)
          .subspan(per_invocation ? 1 : 0);
  bool inside = true;
  bool pads_overrun = false;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (storage) {
      const NodeId parts[] = {operands[d], storage->bases[d]};
      operands[d] =
          Simplifier(nest_.pool).Make(Opcode::kSubtract, DType::kI64, parts);
    }
    const NodeId index = operands[d];
    if (facts_.IsNotNegative(index) && facts_.IsBelow(index, extents[d]))
      continue;
    inside = false;
    if (node.opcode == Opcode::kPad) continue;
    if (!tensor::ProvablyInBounds(c_.pool, c_.pool[id].operands[d],
                                  c_.buffers[node.buffer].extents[d])) {
      Check(node.buffer, static_cast<uint32_t>(d), index, extents[d]);
    } else if (may_overrun_ && DependsOnLane(index)) {
      pads_overrun = true;
    } else if (may_overrun_) {
      operands[d] = Clamped(index, extents[d]);
    }
  }
  if (node.opcode == Opcode::kPad && inside) operands.pop_back();
  if (pads_overrun)
    operands.push_back(
        nest_.pool.Constant(tensor::ZeroBits(node.type), node.type));
  if (per_invocation) operands.insert(operands.begin(), *storage->invocation);
  const bool pad = pads_overrun || (node.opcode == Opcode::kPad && !inside);
  return nest_.pool.Intern(pad ? Opcode::kPad : Opcode::kLoad, node.type,
                           operands, 0, 1, node.buffer);
}

// Returns min(max(index, 0), extent - 1): an element that exists, because the
// stage has points only if the buffer has elements.
NodeId StageValues::Clamped(NodeId index, NodeId extent) {
  Simplifier simplifier(nest_.pool);
  const NodeId zero = nest_.pool.Integer(0);
  const NodeId one = nest_.pool.Integer(1);
  const NodeId extent_and_one[] = {extent, one};
  const NodeId last =
      simplifier.Make(Opcode::kSubtract, DType::kI64, extent_and_one);
  if (!facts_.IsNotNegative(index)) {
    const NodeId operands[] = {index, zero};
    index = simplifier.Make(Opcode::kMaximum, DType::kI64, operands);
  }
  const NodeId operands[] = {index, last};
  return simplifier.Make(Opcode::kMinimum, DType::kI64, operands);
}

bool StageValues::DependsOnLane(NodeId index) const {
  std::set<NodeId> lanes;
  for (int loop : s_.plan->order) {
    if (s_.plan->loops[loop].mark == LoopMark::kVector)
      lanes.insert(s_.values[loop]);
  }
  std::vector<NodeId> stack = {index};
  std::set<NodeId> seen;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    const Node& node = nest_.pool[id];
    if (node.opcode == Opcode::kAxis) {
      if (lanes.contains(id)) return true;
      continue;
    }
    stack.insert(stack.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

void StageValues::Check(uint32_t buffer, uint32_t dim, NodeId index,
                        NodeId extent) {
  if (facts_.IsNotNegative(index) && facts_.IsBelow(index, extent)) return;
  const bool known = std::any_of(
      checks_.begin(), checks_.end(), [&](const loops::Statement& check) {
        return check.index == index && check.extent == extent;
      });
  if (known) return;
  loops::Statement check;
  check.kind = loops::Statement::Kind::kCheck;
  check.buffer = buffer;
  check.dim = dim;
  check.index = index;
  check.extent = extent;
  checks_.push_back(std::move(check));
}

void StageValues::EmitChecks(loops::Block& out) {
  for (loops::Statement& check : checks_) out.push_back(std::move(check));
  checks_.clear();
}

}  // namespace ember::schedule

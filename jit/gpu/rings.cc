#include "jit/gpu/rings.h"

#include <algorithm>
#include <utility>

#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using tensor::Opcode;

Rings::Rings(const loops::LoopNest& nest, const Block& body,
             std::vector<bool> is_of_many)
    : nest_(nest),
      is_of_many_(std::move(is_of_many)),
      counts_(nest.buffers.size()),
      loops_(nest.buffers.size()) {
  for (uint32_t i = 0; i < counts_.size(); ++i) counts_[i] = CountSlots(i);
  FindLoops(body);
}

bool HasAsyncStore(const Statement& statement) {
  return std::ranges::any_of(statement.stores, &loops::Store::is_async) ||
         std::ranges::any_of(statement.body, HasAsyncStore);
}

bool Rings::HasRing(NodeId variable) const {
  return std::ranges::find(loops_, std::optional(variable)) != loops_.end();
}

int Rings::CountSlots(uint32_t number) const {
  const loops::Buffer& buffer = nest_.buffers[number];
  if (buffer.scope != loops::MemoryScope::kTask || buffer.extents.size() < 2)
    return 1;
  const auto count = nest_.pool.IntegerConstant(buffer.extents[0]);
  const bool has_slots = count && *count > 1 && *count <= loops::kMaxRingSlots;
  return has_slots ? static_cast<int>(*count) : 1;
}

void Rings::FindLoops(const Block& block) {
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::kFor &&
        statement.loop == LoopKind::kSerial) {
      FindBuffersOf(statement.variable, statement.body);
    }
    if (!loops::IsInvocationLoop(statement)) FindLoops(statement.body);
  }
}

void Rings::FindBuffersOf(NodeId variable, const Block& block) {
  for (const Statement& statement : block) {
    ForEachAccess(nest_, statement,
                  [&](uint32_t buffer, bool, std::span<const NodeId> indices) {
                    if (counts_[buffer] == 1 || loops_[buffer]) return;
                    const auto ring_index = RingIndexOf(buffer, indices[0]);
                    if (ring_index && ring_index->variable == variable)
                      loops_[buffer] = variable;
                  });
    FindBuffersOf(variable, statement.body);
  }
}

// Accepts (k + c) mod n. Also accepts k + c without the remainder: an index is
// in bounds, so its values are in 0..n-1, where the two are equal.
std::optional<RingIndex> Rings::RingIndexOf(uint32_t buffer,
                                            NodeId index) const {
  const int64_t count = counts_[buffer];
  const tensor::Node& node = nest_.pool[index];
  const bool is_remainder =
      node.opcode == Opcode::kModulo &&
      nest_.pool.IntegerConstant(node.operands[1]) == count;
  const auto sum =
      tensor::Linearize(nest_.pool, is_remainder ? node.operands[0] : index);
  if (!sum) return std::nullopt;
  const auto remainder = [count](int64_t value) {
    return (value % count + count) % count;
  };
  RingIndex ring_index{.variable = std::nullopt,
                       .offset = remainder(sum->constant)};
  for (const tensor::LinearTerm& term : sum->terms) {
    const int64_t coefficient = remainder(term.coefficient);
    if (coefficient == 0) continue;
    if (coefficient != 1 || ring_index.variable ||
        nest_.pool[term.node].opcode != Opcode::kAxis) {
      return std::nullopt;
    }
    ring_index.variable = term.node;
  }
  return ring_index;
}

RingSlots Rings::RingSlotsOf(uint32_t buffer, std::span<const NodeId> indices,
                             std::span<const NodeId> around) const {
  if (!is_of_many_[buffer]) return 0;
  const RingSlots all = AllRingSlots(counts_[buffer]);
  const std::optional<NodeId>& loop = loops_[buffer];
  if (!loop) return all;
  const std::optional<RingIndex> ring_index = RingIndexOf(buffer, indices[0]);
  const bool is_inside = std::ranges::find(around, *loop) != around.end();
  if (!ring_index || ring_index->variable != (is_inside ? loop : std::nullopt))
    return all;
  return static_cast<RingSlots>(1 << ring_index->offset);
}

}  // namespace ember::jit::gpu

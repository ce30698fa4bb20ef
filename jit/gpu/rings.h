// Buffers with slots, as double_buffer makes them: memory of tasks whose first
// extent is a small n and whose first index follows the turns of a serial loop,
// (k + c) mod n. Who looks at such a ring slot by slot sees that what is stored
// for later turns is not what this turn reads:
//
//   for k < 8 {
//     invocation i < 64 { ... %tile[k mod 3, ...] ... }
//     if k + 2 < 8 { invocation i < 64 { %tile[(k + 2) mod 3, i] = ... } }
//   }
//
//   const Rings rings(nest, phase.body, is_of_many);
//   rings.SlotsOf(tile, indices, {k});   // bit 0, bit 2
//
// Thread-safe. The nest must outlive it.
#ifndef EMBER_JIT_GPU_RINGS_H_
#define EMBER_JIT_GPU_RINGS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/walk.h"

namespace ember::jit::gpu {

// Which slots of a ring of n something reads, or writes. In turn t of the
// ring's loop, bit h stands for slot (t + h) mod n; outside of the loop, for
// slot h. All bits are set where it is not known which slot it is. A buffer
// that is no ring has one slot.
using Slots = uint8_t;
static_assert(loops::kMostSlots <= 8);

constexpr Slots AllSlots(int count) {
  return static_cast<Slots>((1 << count) - 1);
}

// The same slots, as the loop's next turn names them.
constexpr Slots Turned(Slots slots, int count) {
  return static_cast<Slots>((slots >> 1) | ((slots & 1) << (count - 1)));
}

// The slot of a first index, as turns of a loop have it.
struct Turn {
  std::optional<loops::NodeId> variable;  // none: a constant slot
  int64_t offset = 0;                     // in 0..count-1
};

class Rings {
 public:
  // is_of_many, by buffer: several invocations may touch an element; of others
  // nobody asks.
  Rings(const loops::LoopNest& nest, const loops::Block& body,
        std::vector<bool> is_of_many);

  // Of slots; 1 of what is no ring.
  int CountOf(uint32_t buffer) const { return counts_[buffer]; }
  // The variable of the loop whose turns the buffer has slots for: the first
  // that is met of the serial ones outside of invocation loops.
  const std::optional<loops::NodeId>& LoopOf(uint32_t buffer) const {
    return loops_[buffer];
  }
  bool HasRing(loops::NodeId variable) const;

  // Of an access of the buffer with the indices, inside of the loops of the
  // variables; 0: it is not one of many.
  Slots SlotsOf(uint32_t buffer, std::span<const loops::NodeId> indices,
                std::span<const loops::NodeId> around) const;
  // Nothing where the index is no such slot.
  std::optional<Turn> TurnOf(uint32_t buffer, loops::NodeId index) const;

 private:
  int CountSlots(uint32_t buffer) const;
  void FindLoops(const loops::Block& block);
  void FindBuffersOf(loops::NodeId variable, const loops::Block& block);

  const loops::LoopNest& nest_;
  const std::vector<bool> is_of_many_;
  std::vector<int> counts_;                          // by buffer
  std::vector<std::optional<loops::NodeId>> loops_;  // by buffer
};

// Whether the statement, or one in it, stores asynchronously.
bool HasAsyncStore(const loops::Statement& statement);

// visit(buffer, stores, indices) for what the statement itself touches, without
// its body; what it loads comes first.
template <typename Visit>
void ForEachAccess(const loops::LoopNest& nest,
                   const loops::Statement& statement, Visit&& visit) {
  using loops::NodeId;
  if (statement.kind == loops::Statement::Kind::kPrefetch) return;
  for (NodeId id :
       loops::NodesUnder(nest.pool, loops::RootsOf(nest.pool, statement))) {
    const tensor::Node& node = nest.pool[id];
    if (node.opcode == tensor::Opcode::kLoad ||
        node.opcode == tensor::Opcode::kPad)
      visit(node.buffer, false, std::span<const NodeId>(node.operands));
  }
  for (const loops::Store& store : statement.stores) {
    const std::span<const NodeId> indices(store.indices);
    visit(store.buffer, true, indices);
    if (store.update != tensor::Update::kAssign)
      visit(store.buffer, false, indices);
  }
}

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_RINGS_H_

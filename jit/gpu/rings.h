// Finds rings: buffers with slots, as double_buffer makes them. A ring is a
// buffer in the memory of a task. Its first extent is a small number of slots
// n, and its first index is (k + c) mod n, where k is the variable of a serial
// loop. An analysis that looks at each slot by itself sees that stores for
// later iterations do not touch what this one reads:
//
//   for k < 8 {
//     invocation i < 64 { ... %tile[k mod 3, ...] ... }
//     if k + 2 < 8 { invocation i < 64 { %tile[(k + 2) mod 3, i] = ... } }
//   }
//
//   const Rings rings(nest, phase.body, is_of_many);
//   rings.RingSlotsOf(tile, indices, {k});   // bit 0, bit 2
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

// A set of slots of a ring with n slots, one bit per slot. In iteration t of
// the ring's loop, bit h is slot (t + h) mod n; outside the loop, bit h is slot
// h. All bits are set if the slots are not known. A buffer that is not a ring
// counts as one slot.
using RingSlots = uint8_t;
static_assert(loops::kMaxRingSlots <= 8);

constexpr RingSlots AllRingSlots(int count) {
  return static_cast<RingSlots>((1 << count) - 1);
}

// Returns the bits that denote, in the next iteration of the ring's loop, the
// slots that `slots` denotes in the current one.
constexpr RingSlots InNextIteration(RingSlots slots, int count) {
  return static_cast<RingSlots>((slots >> 1) | ((slots & 1) << (count - 1)));
}

// The slot that an access to a ring selects by its first index.
struct RingIndex {
  // Variable of the loop from whose iteration the slot is counted. Empty if the
  // slot is constant.
  std::optional<loops::NodeId> variable;
  // the slot's number if it is constant, otherwise its distance from slot
  // (iteration mod count); in 0..count-1
  int64_t offset = 0;
};

class Rings {
 public:
  // is_of_many: for each buffer, true if several invocations may access the
  // same element. RingSlotsOf returns no slots for other buffers, which need no
  // barriers.
  Rings(const loops::LoopNest& nest, const loops::Block& body,
        std::vector<bool> is_of_many);

  // Number of slots; 1 for a buffer that is not a ring.
  int CountOf(uint32_t buffer) const { return counts_[buffer]; }
  // Returns the variable of the loop that the ring's slots follow: the first
  // serial loop, outside invocation loops, whose iteration selects the slot.
  // Empty if there is none.
  const std::optional<loops::NodeId>& LoopOf(uint32_t buffer) const {
    return loops_[buffer];
  }
  bool HasRing(loops::NodeId variable) const;

  // Returns the slots of the buffer that an access with the indices touches.
  // around: variables of the loops around the access. Returns 0 if is_of_many
  // is false for the buffer.
  RingSlots RingSlotsOf(uint32_t buffer, std::span<const loops::NodeId> indices,
                        std::span<const loops::NodeId> around) const;
  // Returns the slot that the first index of an access selects; nothing if the
  // index is not a constant, (k + c) mod n or k + c for a loop variable k.
  std::optional<RingIndex> RingIndexOf(uint32_t buffer,
                                       loops::NodeId index) const;

 private:
  int CountSlots(uint32_t buffer) const;
  void FindLoops(const loops::Block& block);
  void FindBuffersOf(loops::NodeId variable, const loops::Block& block);

  const loops::LoopNest& nest_;
  const std::vector<bool> is_of_many_;
  std::vector<int> counts_;  // number of slots of each buffer
  // for each buffer: variable of the loop that its slots follow; nullopt if it
  // is not a ring
  std::vector<std::optional<loops::NodeId>> loops_;
};

// True if the statement, or a statement in its body, stores asynchronously.
bool HasAsyncStore(const loops::Statement& statement);

// Calls visit(buffer, stores, indices) for each access of the statement itself,
// without its body; loads come first. A prefetch has no accesses.
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

// Checks that slots of rings are used in order (Workgroup::rings): copies fill
// a slot that is empty, a slot is full once a reader has awaited it, and empty
// again when its readers have released it.
//
//   slots.BeginPhase(nest, phase);
//   slots.Note(tile, /*slot=*/0, /*stores=*/true)    // fills slot 0
//   slots.Await(reader, use, /*slot=*/0)             // slot 0 is full
//   slots.Note(tile, 0, /*stores=*/false)
//   slots.Release(use, 0);                           // slot 0 is empty
//
// The statements of the producer and of the readers are evaluated in the order
// of the nest, which is one of those that the barriers of slots allow. Not
// thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_
#define EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

class RingSlots {
 public:
  void BeginPhase(const LoopNest& nest, const Phase& phase);
  void BeginTask() { rings_.assign(rings_.size(), {}); }

  // True if the buffer belongs to a ring of the phase.
  bool Has(uint32_t buffer) const { return ring_of_.contains(buffer); }
  // Notes an access to a slot of such a buffer. Errors: kInternal if the slot
  // is full and stored to, or not full and read.
  Status Note(uint32_t buffer, int64_t slot, bool stores);

  // Notes that a loop that reads the slot begins. Errors: kInternal if no copy
  // has filled the slot.
  Status Await(const Statement& reader, const SlotUse& use, int64_t slot);
  void Release(const SlotUse& use, int64_t slot);
  // EndIteration and EndLoop are called for the loops of the phase. They
  // release the slots of products that stay in flight.
  void EndIteration(const Statement& loop);
  void EndLoop(const Statement& loop);

 private:
  enum class State : uint8_t { kEmpty, kFilled, kFull };
  struct Ring {
    std::map<int64_t, State> slots;  // no entry: empty
    // The last reader of a ring whose products stay in flight, and the slots
    // that the current iteration and the one before have read.
    const Statement* reader = nullptr;
    std::optional<int64_t> now, before;
  };

  static void Leave(Ring& ring, std::optional<int64_t>& slot);
  void FindBuffers(const Block& block);

  const LoopNest* nest_ = nullptr;
  const Phase* phase_ = nullptr;
  std::map<uint32_t, uint32_t> ring_of_;  // ring of each buffer
  std::vector<Ring> rings_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_

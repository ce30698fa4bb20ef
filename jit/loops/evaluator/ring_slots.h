// Checks that slots of rings are used in order (Workgroup::rings): the producer
// fills a slot that is empty, a subgroup reads a slot between its await and its
// release, and the slot is empty again when all subgroups have released it.
//
//   slots.BeginPhase(nest, phase);
//   slots.Fill(/*ring=*/0, /*slot=*/0)
//   slots.Note(tile, 0, /*stores=*/true, producer)
//   slots.Await(0, 0, subgroup)
//   slots.Note(tile, 0, /*stores=*/false, subgroup)
//   slots.Release(0, 0, subgroup)
//
// The evaluator runs the statements of producer and readers in the order of the
// nest. On a device they run concurrently; that order is one of those that the
// barriers of slots allow. Not thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_
#define EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_

#include <cstdint>
#include <map>
#include <set>
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
  // True if the buffer belongs to the ring of this number.
  bool IsOf(uint32_t buffer, uint32_t ring) const {
    const auto known = ring_of_.find(buffer);
    return known != ring_of_.end() && known->second == ring;
  }
  // Notes an access to a slot of a buffer that belongs to a ring. Errors:
  // kInternal if a store finds the slot not being filled, or if the reading
  // subgroup has not awaited the slot.
  Status Note(uint32_t buffer, int64_t slot, bool stores, int64_t subgroup);

  // Note the steps of a slot. Errors: kInternal if Fill finds the slot not
  // empty, if Await finds it not filled or already awaited by the subgroup, or
  // if Release finds that the subgroup does not read it.
  Status Fill(uint32_t ring, int64_t slot);
  Status Await(uint32_t ring, int64_t slot, int64_t subgroup);
  Status Release(uint32_t ring, int64_t slot, int64_t subgroup);

 private:
  struct Slot {
    // True from the slot's fill until all readers have released it.
    bool is_filled = false;
    // True from the slot's first await until all readers have released it.
    bool is_full = false;
    std::set<int64_t> readers;  // the subgroups that have awaited the slot
    // the subgroups that have released the slot
    std::set<int64_t> released;
  };
  using Ring = std::map<int64_t, Slot>;  // no entry: empty

  void FindBuffers(const Block& block);

  const LoopNest* nest_ = nullptr;
  const Phase* phase_ = nullptr;
  // For each buffer of a ring: the ring's number.
  std::map<uint32_t, uint32_t> ring_of_;
  std::vector<Ring> rings_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_

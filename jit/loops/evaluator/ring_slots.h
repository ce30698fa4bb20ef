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
// The statements of the producer and of the readers are evaluated in the order
// of the nest, which is one of those that the barriers of slots allow. Not
// thread-safe.
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
  // True if the buffer belongs to this ring.
  bool IsOf(uint32_t buffer, uint32_t ring) const {
    const auto known = ring_of_.find(buffer);
    return known != ring_of_.end() && known->second == ring;
  }
  // Notes an access to a slot of such a buffer. Errors: kInternal if the slot
  // is stored to and not being filled, or read by a subgroup that has not
  // awaited it.
  Status Note(uint32_t buffer, int64_t slot, bool stores, int64_t subgroup);

  // The steps of a slot. Errors: kInternal if the slot is not empty, not filled
  // for the subgroup, or not read by it.
  Status Fill(uint32_t ring, int64_t slot);
  Status Await(uint32_t ring, int64_t slot, int64_t subgroup);
  Status Release(uint32_t ring, int64_t slot, int64_t subgroup);

 private:
  struct Slot {
    bool is_filled = false;     // from its fill on until it is empty again
    bool is_full = false;       // from the first await on
    std::set<int64_t> readers;  // subgroups that have awaited it
    // the readers that have released it
    std::set<int64_t> released;
  };
  using Ring = std::map<int64_t, Slot>;  // no entry: empty

  void FindBuffers(const Block& block);

  const LoopNest* nest_ = nullptr;
  const Phase* phase_ = nullptr;
  std::map<uint32_t, uint32_t> ring_of_;  // ring of each buffer
  std::vector<Ring> rings_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_RING_SLOTS_H_

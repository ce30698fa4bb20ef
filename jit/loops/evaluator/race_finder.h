// Finds data races of a nest that is evaluated sequentially: between the tasks
// of a phase, between the invocations of a loop, and, in device nests, between
// invocations that no barrier separates (jit/loops/evaluator/evaluator.h).
//
//   RaceFinder races(nest, /*refuses_races=*/false);
//   EMBER_RETURN_IF_ERROR(races.BeginPhase(phase, true, extents, memory));
//   races.BeginTask(0);
//   races.BeginInvocations(loop);
//   races.SetInvocation(3);
//   EMBER_RETURN_IF_ERROR(races.Note(tile, /*position=*/3, /*stores=*/true));
//   races.EndInvocations();
//   races.Barrier();
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_RACE_FINDER_H_
#define EMBER_JIT_LOOPS_EVALUATOR_RACE_FINDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/loops/evaluator/access_log.h"
#include "jit/loops/evaluator/ring_slots.h"
#include "jit/loops/evaluator/workgroup_memory.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

class RaceFinder {
 public:
  // refuses_races: true to also find races between tasks, and, in nests without
  // barriers, races between invocations of a loop.
  RaceFinder(const LoopNest& nest, bool refuses_races)
      : nest_(nest), refuses_races_(refuses_races) {}

  // Begins a phase. `has_barriers`: true if only barriers synchronise its
  // invocations. Sets `memory` of the buffers that are at offsets of the
  // workgroup's memory; see WorkgroupMemory::Bind for operands and errors. The
  // memory must live until the next phase.
  Status BeginPhase(const Phase& phase, bool has_barriers,
                    std::span<const std::vector<int64_t>> extents,
                    std::span<void*> memory);
  void BeginTask(int64_t task);
  // BeginInvocations and EndInvocations are called around a loop over
  // invocations or subgroups, SetInvocation before each value of its variable.
  void BeginInvocations(const Statement& loop);
  void SetInvocation(int64_t value);
  void EndInvocations();
  // Called before the body of a `first` statement, which only the first
  // invocation runs; EndInvocations is called after the body.
  void BeginFirst();
  // EndIteration is called at the end of each iteration of a loop, and EndLoop
  // after the loop: products of an earlier iteration that stay in flight end
  // there.
  void EndIteration(const Statement& loop);
  void EndLoop(const Statement& loop);
  // Notes that the producer or the current subgroup fills, awaits or releases a
  // slot. Errors: those of RingSlots.
  Status NoteStep(SlotStep step, uint32_t ring, int64_t slot);
  // True if the buffer belongs to the ring, and the element at `position` is in
  // this slot of it.
  bool IsInSlot(uint32_t buffer, int64_t position, uint32_t ring,
                int64_t slot) const {
    return slots_.IsOf(buffer, ring) && position / slot_sizes_[buffer] == slot;
  }
  // Notes a barrier: earlier accesses are no races with later ones. Only reads
  // of products in flight still count.
  void Barrier();

  // Notes an access by the current invocation. Errors: kInternal if it is a
  // race, or an access to a ring that RingSlots refuses.
  Status Note(uint32_t buffer, int64_t position, bool stores);

  // Returns the current invocation as a number for SetAgent; -1 outside of
  // loops over invocations.
  int64_t agent() const { return invocation_; }
  void SetAgent(int64_t agent) { invocation_ = agent; }
  // True if an asynchronous store to the buffer counts as an access at its
  // await, too. Rings are an exception: the barriers of their slots order the
  // accesses (RingSlots).
  bool NotesAwaits(uint32_t buffer) const {
    return has_barriers_ && !slots_.Has(buffer);
  }

 private:
  struct Read {
    uint32_t buffer = 0;
    int64_t position = 0;
    int64_t agent = 0;
  };
  // The reads of matrix products that stay in flight until the end of the next
  // iteration. `now`: reads of the current iteration; `before`: of the
  // iteration before.
  struct InFlight {
    const Statement* products = nullptr;
    std::vector<Read> now, before;
  };

  // Notes an access in the log; see AccessLog::Note.
  int64_t Log(AccessLog& log, uint32_t buffer, int64_t position, int64_t agent,
              bool stores) const;
  Status NoteIn(AccessLog& log, uint32_t buffer, int64_t position,
                int64_t agent, bool stores, const char* what);
  // Returns the reads of the products in flight that are directly in the loop's
  // body; null if there are none.
  InFlight* InFlightOf(const Statement& loop);

  const LoopNest& nest_;
  const bool refuses_races_;
  bool has_barriers_ = false;
  int64_t task_ = -1;  // number of the running task, or -1
  // The current value of the surrounding loop over invocations, or -1 outside
  // of one. Values of a subgroup loop are counted from kFirstSubgroup.
  int64_t invocation_ = -1;
  bool is_subgroup_loop_ = false;
  // true in a combining loop, whose invocations update one element together
  bool combines_ = false;
  std::vector<int64_t> counts_;  // number of elements of each buffer
  std::vector<void*> memory_;    // address of each buffer's memory
  // For each buffer: number of elements per index of its first dim. For a
  // ring's buffer that is the size of a slot.
  std::vector<int64_t> slot_sizes_;
  WorkgroupMemory shared_;
  RingSlots slots_;
  AccessLog by_tasks_;
  AccessLog by_invocations_;
  AccessLog since_barrier_;
  std::vector<InFlight> in_flight_;
  // the reads of the surrounding loop's products if they stay in flight; else
  // null
  InFlight* running_ = nullptr;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_RACE_FINDER_H_

#include "jit/gpu/barriers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/gpu/rings.h"
#include "jit/loops/analysis/combining.h"
#include "jit/loops/analysis/may_share_memory.h"
#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Buffer;
using loops::IsInvocationLoop;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// The ring slots of each buffer that a set of statements reads (`reads`), and
// those that it writes (`writes`).
struct Touched {
  std::vector<RingSlots> reads, writes;

  explicit Touched(size_t buffers) : reads(buffers), writes(buffers) {}
  void Add(const Touched& other) {
    for (size_t i = 0; i < reads.size(); ++i) {
      reads[i] |= other.reads[i];
      writes[i] |= other.writes[i];
    }
  }
  template <typename Change>
  void ChangeRingSlots(size_t buffer, Change&& change) {
    reads[buffer] = change(reads[buffer]);
    writes[buffer] = change(writes[buffer]);
  }
  bool operator==(const Touched&) const = default;
};

struct Accesses {
  Touched by_all;  // accesses of all invocations
  // Accesses of the first invocation only. It sees its own stores without a
  // barrier.
  Touched by_first;

  explicit Accesses(size_t buffers) : by_all(buffers), by_first(buffers) {}
  void Add(const Accesses& other) {
    by_all.Add(other.by_all);
    by_first.Add(other.by_first);
  }
  bool operator==(const Accesses&) const = default;
};

// True if the planner treats the statement as a whole, because it contains no
// barriers: an invocation loop, or statements of the first invocation only.
bool IsStep(const Statement& statement) {
  return IsInvocationLoop(statement) ||
         statement.kind == Statement::Kind::kFirst;
}

// The asynchronous stores to one ring buffer within the loop whose iterations
// its slots follow.
struct Flight {
  bool is_stored = false;
  // The slot that these stores write, counted from the slot of the iteration
  // whose await waits for them (bit `ahead` of RingSlots). If the stores
  // precede the await in the loop's body, that is the iteration of the stores,
  // otherwise the next one. Empty if the stores write different slots.
  std::optional<int64_t> ahead;
};

class BarrierPlanner {
 public:
  BarrierPlanner(const loops::LoopNest& nest, const Block& body,
                 const SharedMemory& memory)
      : nest_(nest),
        memory_(memory),
        rings_(nest, body, memory.is_of_many),
        flights_(nest.buffers.size()) {
    result_.before.resize(loops::CountStatements(body));
    result_.is_coherent.resize(nest.buffers.size());
    result_.is_ordered.resize(nest.buffers.size());
  }

  Barriers Run(const Block& body) {
    is_async_.resize(nest_.buffers.size());
    begun_.resize(nest_.buffers.size());
    FindAsync(body);
    FindFlights(body);
    Accesses pending(nest_.buffers.size());
    Plan(body, /*number=*/0, pending);
    FindOrdered(body);
    return std::move(result_);
  }

 private:
  // --- slots ---

  RingSlots RingSlotsOf(uint32_t buffer,
                        std::span<const NodeId> indices) const {
    return rings_.RingSlotsOf(buffer, indices, around_);
  }

  bool IsAround(NodeId variable) const {
    return std::ranges::find(around_, variable) != around_.end();
  }

  // --- Asynchronous stores to rings. ---

  // Fills `flights_` and `awaits_` for the serial loops in the block.
  void FindFlights(const Block& block) {
    for (const Statement& statement : block) {
      if (statement.kind == Statement::Kind::kFor &&
          statement.loop == LoopKind::kSerial) {
        awaits_[statement.variable] = 0;
        FindFlightsIn(statement.variable, statement.body, /*is_direct=*/true);
      }
      if (!IsInvocationLoop(statement)) FindFlights(statement.body);
    }
  }

  void FindFlightsIn(NodeId variable, const Block& block, bool is_direct) {
    for (const Statement& statement : block) {
      if (statement.kind == Statement::Kind::kAwait)
        // An await inside a branch or an inner loop may not run exactly once
        // per iteration. It counts as two, so that the loop is not taken for
        // one with a single await per iteration.
        awaits_[variable] += is_direct ? 1 : 2;
      for (const loops::Store& store : statement.stores) {
        if (!store.is_async || rings_.LoopOf(store.buffer) != variable)
          continue;
        Flight& flight = flights_[store.buffer];
        const auto ring_index =
            rings_.RingIndexOf(store.buffer, store.indices[0]);
        const bool is_known = ring_index && ring_index->variable == variable;
        const int64_t later = awaits_[variable] == 0 ? 0 : 1;
        const std::optional<int64_t> ahead =
            is_known ? std::optional(ring_index->offset - later) : std::nullopt;
        if (flight.is_stored && flight.ahead != ahead) {
          flight.ahead = std::nullopt;
        } else {
          flight.ahead = ahead;
        }
        flight.is_stored = true;
      }
      FindFlightsIn(variable, statement.body, false);
    }
  }

  // Returns the slots whose asynchronous stores are complete after the await,
  // as writes that other invocations see after the next barrier. Inside the
  // ring's loop, if each iteration has one await, that is one slot: the await
  // leaves the last n groups of stores in flight, so it completes the group of
  // n iterations ago, and earlier awaits completed the groups before it.
  // Outside of that loop, these are the slots in `begun_`. In all other cases
  // every slot is returned.
  Accesses Awaited(const Statement& await) const {
    Accesses accesses(nest_.buffers.size());
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      if (!memory_.is_of_many[i] || !is_async_[i]) continue;
      RingSlots slots = AllRingSlots(rings_.CountOf(i));
      if (rings_.LoopOf(i) && !IsAround(*rings_.LoopOf(i))) {
        slots = begun_[i];
      } else if (rings_.LoopOf(i) && flights_[i].ahead &&
                 awaits_.at(*rings_.LoopOf(i)) == 1 &&
                 *flights_[i].ahead >= await.groups) {
        slots =
            static_cast<RingSlots>(1 << (*flights_[i].ahead - await.groups));
      }
      accesses.by_all.writes[i] = slots;
    }
    return accesses;
  }

  // Adds the slots that the statement stores to asynchronously to `begun_`.
  // Before the ring's loop the index gives the slot's number. After the loop it
  // is not known, so all slots are added.
  void NoteBegun(const Statement& statement) {
    for (const loops::Store& store : statement.stores) {
      if (!store.is_async) continue;
      const uint32_t i = store.buffer;
      const bool is_fixed = rings_.LoopOf(i) && !IsAround(*rings_.LoopOf(i));
      begun_[i] |= is_fixed ? RingSlotsOf(i, store.indices)
                            : AllRingSlots(rings_.CountOf(i));
    }
    for (const Statement& inner : statement.body) NoteBegun(inner);
  }

  void FindAsync(const Block& block) {
    for (const Statement& statement : block) {
      for (const loops::Store& store : statement.stores)
        is_async_[store.buffer] = is_async_[store.buffer] || store.is_async;
      FindAsync(statement.body);
    }
  }

  // --- accesses ---

  // Returns the accesses of the statement itself, without its body.
  // stores_first: true if only the first invocation stores. Then it alone also
  // reads the elements that the stores update.
  Accesses OwnAccesses(const Statement& statement, bool stores_first) const {
    Accesses accesses(nest_.buffers.size());
    bool behind_loads = false;
    ForEachAccess(
        nest_, statement,
        [&](uint32_t buffer, bool stores, std::span<const NodeId> indices) {
          behind_loads |= stores;
          Touched& touched = behind_loads && stores_first ? accesses.by_first
                                                          : accesses.by_all;
          (stores ? touched.writes : touched.reads)[buffer] |=
              RingSlotsOf(buffer, indices);
        });
    return accesses;
  }

  Accesses AllAccesses(const Statement& statement) const {
    const bool combines = loops::IsCombining(nest_.pool, statement);
    Accesses accesses = OwnAccesses(statement, /*stores_first=*/false);
    for (const Statement& inner : statement.body) {
      accesses.Add(combines ? OwnAccesses(inner, /*stores_first=*/true)
                            : AllAccesses(inner));
    }
    if (statement.stays_in_flight) ReadInNextIteration(accesses);
    if (statement.kind == Statement::Kind::kFirst) {
      accesses.by_first.Add(accesses.by_all);
      accesses.by_all = Touched(nest_.buffers.size());
    }
    return accesses;
  }

  // Adds to the reads of an iteration of the innermost loop those of the
  // previous iteration, whose products of matrices may still be running.
  void ReadInNextIteration(Accesses& accesses) const {
    if (around_.empty()) return;
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      if (rings_.LoopOf(i) != around_.back()) continue;
      RingSlots& reads = accesses.by_all.reads[i];
      reads |= InNextIteration(reads, rings_.CountOf(i));
    }
  }

  // --- conflicts ---

  bool MayBeOneMemory(size_t a, size_t b) const {
    if (!memory_.ranges.empty() &&
        memory_.ranges[a].Overlaps(memory_.ranges[b]))
      return true;
    return loops::MayShareMemory(nest_, static_cast<uint32_t>(a),
                                 static_cast<uint32_t>(b));
  }

  bool Conflict(const Accesses& before, const Accesses& now) const {
    return Conflict(before.by_all, now.by_all) ||
           Conflict(before.by_all, now.by_first) ||
           Conflict(before.by_first, now.by_all);
  }

  bool Conflict(const Touched& before, const Touched& now) const {
    for (size_t i = 0; i < before.reads.size(); ++i) {
      if (before.reads[i] == 0 && before.writes[i] == 0) continue;
      const bool one_writes =
          ((before.writes[i] & (now.writes[i] | now.reads[i])) |
           (before.reads[i] & now.writes[i])) != 0;
      if (one_writes) return true;
      for (size_t j = 0; j < before.reads.size(); ++j) {
        const bool other_writes =
            (before.writes[i] != 0 && (now.writes[j] | now.reads[j]) != 0) ||
            (before.reads[i] != 0 && now.writes[j] != 0);
        if (i != j && other_writes && MayBeOneMemory(i, j)) return true;
      }
    }
    return false;
  }

  // --- Planning the positions of barriers. ---

  // Handles one step of the phase: an invocation loop, a store, or the
  // evaluation of a condition, inside of which no barrier can be. Plans a
  // barrier before the step if its accesses conflict with the pending ones.
  // number: the number of the step's statement.
  void Step(size_t number, const Accesses& accesses, Accesses& pending) {
    if (result_.before[number] || Conflict(pending, accesses)) {
      NoteCoherent(pending, accesses);
      result_.before[number] = true;
      pending = Accesses(nest_.buffers.size());
    }
    pending.Add(accesses);
  }

  // Plans the barriers of the block, whose first statement has the number
  // `number`. pending: the accesses since the last barrier, on entry and on
  // exit.
  void Plan(const Block& block, size_t number, Accesses& pending) {
    for (const Statement& statement : block) {
      if (statement.kind == Statement::Kind::kBarrier) continue;
      if (!statement.of_producer) PlanStatement(statement, number, pending);
      number += 1 + loops::CountStatements(statement.body);
    }
  }

  void PlanStatement(const Statement& statement, size_t number,
                     Accesses& pending) {
    if (IsStep(statement)) {
      Step(number, AllAccesses(statement), pending);
      NoteBegun(statement);
      return;
    }
    if (statement.kind == Statement::Kind::kAwait) {
      // An await needs no barrier before it: conflicts with asynchronous stores
      // were found at the statements that begin these stores.
      pending.Add(Awaited(statement));
      return;
    }
    if (const auto first =
            AccessesToSynchronizeBefore(statement, number, pending)) {
      NoteCoherent(pending, *first);
      result_.before[number] = true;
      pending = Accesses(nest_.buffers.size());
    }
    Step(number, OwnAccesses(statement, /*stores_first=*/true), pending);
    if (statement.kind == Statement::Kind::kFor) {
      PlanLoop(statement, number, pending);
    } else if (statement.kind == Statement::Kind::kIf) {
      const Accesses skipped = pending;
      Plan(statement.body, number + 1, pending);
      pending.Add(skipped);
    }
  }

  // Returns nullopt if the caller puts no barrier before the whole branch or
  // loop. Otherwise returns the accesses that the barrier is for: all accesses
  // of the loop, or those of the first statement in the branch.
  std::optional<Accesses> AccessesToSynchronizeBefore(
      const Statement& statement, size_t number, const Accesses& pending) {
    if (statement.kind == Statement::Kind::kFor)
      return AccessesOfLoopToSynchronizeBefore(statement, number, pending);
    const Statement* first = &statement;
    while (!IsStep(*first)) {
      const bool is_loop = first->kind == Statement::Kind::kFor;
      if (!is_loop && first->kind != Statement::Kind::kIf) return std::nullopt;
      const auto inner =
          std::ranges::find_if(first->body, [](const Statement& candidate) {
            return candidate.kind != Statement::Kind::kBarrier;
          });
      if (inner == first->body.end()) return std::nullopt;
      first = &*inner;
    }
    Accesses accesses = AllAccesses(*first);
    if (!Conflict(pending, accesses)) return std::nullopt;
    return accesses;
  }

  // Returns nullopt unless a barrier before the loop saves a barrier inside of
  // it. It does if a barrier inside is only needed because of accesses before
  // the loop. To find that out, this plans the loop twice, with and without
  // those accesses. Inner loops are then not planned twice again, because deep
  // nests would take exponential time.
  std::optional<Accesses> AccessesOfLoopToSynchronizeBefore(
      const Statement& loop, size_t number, const Accesses& pending) {
    const Accesses none(nest_.buffers.size());
    if (looks_ || pending == none) return std::nullopt;
    looks_ = true;
    const auto count_meetings = [&](Accesses before) {
      const Barriers known = result_;
      PlanLoop(loop, number, before);
      const size_t count = result_.Count();
      result_ = known;
      return count;
    };
    const bool is_better = count_meetings(none) < count_meetings(pending);
    looks_ = false;
    if (!is_better) return std::nullopt;
    around_.push_back(loop.variable);
    Accesses accesses = AllAccesses(loop);
    around_.pop_back();
    return accesses;
  }

  // Plans the barriers in a loop. An iteration begins with the accesses that
  // the previous one left pending. The body is planned again until these no
  // longer change. That ends, because barriers are only added and pending
  // accesses only grow. In iteration 0 slots have the same numbers as before
  // the loop.
  void PlanLoop(const Statement& loop, size_t number, Accesses& pending) {
    const Accesses skipped = pending;
    around_.push_back(loop.variable);
    if (rings_.HasRing(loop.variable)) LookAhead(loop, number, pending);
    while (true) {
      const Accesses begin = pending;
      Plan(loop.body, number + 1, pending);
      Accesses next = pending;
      ForEachRingOf(loop.variable, next, InNextIteration);
      next.Add(begin);
      if (next == begin) break;
      pending = std::move(next);
    }
    around_.pop_back();
    // The number of iterations is not known, so neither is the slot that the
    // last iteration accessed. After the loop, all slots of the ring count as
    // accessed.
    ForEachRingOf(loop.variable, pending,
                  [](RingSlots slots, int count) -> RingSlots {
                    return slots == 0 ? 0 : AllRingSlots(count);
                  });
    const auto iterations =
        nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, loop.variable));
    if (iterations.value_or(0) < 1) pending.Add(skipped);
  }

  // Adds to `pending` the accesses that an iteration of the ring's loop leaves
  // to the next one. To find them it plans the loop once, and drops the
  // barriers of that plan. The real plan then begins like that of a later
  // iteration: it puts barriers where every iteration needs them, and none that
  // only the first one would need.
  void LookAhead(const Statement& loop, size_t number, Accesses& pending) {
    const Barriers known = result_;
    Accesses left = pending;
    Plan(loop.body, number + 1, left);
    ForEachRingOf(loop.variable, left, InNextIteration);
    pending.Add(left);
    result_ = known;
  }

  // Replaces the slots in `accesses` by change(slots, number of slots), for
  // each ring buffer whose slots follow the loop with this variable.
  template <typename Change>
  void ForEachRingOf(NodeId variable, Accesses& accesses,
                     Change&& change) const {
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i) {
      if (rings_.LoopOf(i) != variable) continue;
      const auto of_buffer = [&](RingSlots slots) {
        return change(slots, rings_.CountOf(i));
      };
      accesses.by_all.ChangeRingSlots(i, of_buffer);
      accesses.by_first.ChangeRingSlots(i, of_buffer);
    }
  }

  void NoteCoherent(const Accesses& all_before, const Accesses& all_now) {
    Touched before = all_before.by_all, now = all_now.by_all;
    before.Add(all_before.by_first);
    now.Add(all_now.by_first);
    for (size_t i = 0; i < result_.is_coherent.size(); ++i) {
      const bool is_touched = (before.writes[i] | now.writes[i]) != 0 &&
                              (before.reads[i] | before.writes[i]) != 0 &&
                              (now.reads[i] | now.writes[i]) != 0;
      if (is_touched) result_.is_coherent[i] = true;
    }
  }

  // --- Finding the buffers whose accesses barriers must order. ---

  // Counts the statements that access a buffer. A statement in a loop counts as
  // two, because a barrier in the loop separates two of its iterations.
  struct Uses {
    int touches = 0;
    bool reads = false, writes = false, by_all = false;
  };

  void CountUses(const Accesses& accesses, int weight,
                 std::vector<Uses>& uses) const {
    for (size_t i = 0; i < uses.size(); ++i) {
      const RingSlots all_reads = accesses.by_all.reads[i],
                      all_writes = accesses.by_all.writes[i],
                      reads = all_reads | accesses.by_first.reads[i],
                      writes = all_writes | accesses.by_first.writes[i];
      if ((reads | writes) == 0) continue;
      uses[i].touches += weight;
      uses[i].reads |= reads != 0;
      uses[i].writes |= writes != 0;
      uses[i].by_all |= (all_reads | all_writes) != 0;
    }
  }

  void CountUses(const Block& block, int weight,
                 std::vector<Uses>& uses) const {
    for (const Statement& statement : block) {
      if (IsStep(statement)) {
        CountUses(AllAccesses(statement), weight, uses);
        continue;
      }
      CountUses(OwnAccesses(statement, /*stores_first=*/true), weight, uses);
      const bool is_loop = statement.kind == Statement::Kind::kFor;
      CountUses(statement.body, is_loop ? 2 : weight, uses);
    }
  }

  // Sets `is_ordered`. A barrier may be needed because of another buffer, so
  // the function looks for accesses to each buffer in the whole phase, not just
  // around the barriers.
  void FindOrdered(const Block& body) {
    if (result_.Count() == 0) return;
    std::vector<Uses> uses(nest_.buffers.size());
    CountUses(body, 1, uses);
    for (size_t i = 0; i < uses.size(); ++i) {
      const bool is_ordered =
          uses[i].writes && uses[i].by_all && uses[i].touches > 1;
      if (is_ordered) result_.is_ordered[i] = true;
      if (is_ordered && uses[i].reads) result_.is_coherent[i] = true;
      for (size_t j = 0; j < uses.size(); ++j) {
        const bool one_writes = uses[i].writes || uses[j].writes;
        const bool are_used = uses[i].touches > 0 && uses[j].touches > 0;
        if (i != j && one_writes && are_used && MayBeOneMemory(i, j))
          result_.is_ordered[i] = true;
      }
      if (result_.is_coherent[i]) result_.is_ordered[i] = true;
    }
  }

  const loops::LoopNest& nest_;
  const SharedMemory& memory_;
  const Rings rings_;
  std::vector<Flight> flights_;  // for each buffer: its asynchronous stores, if
                                 // it is a ring
  // for each buffer: true if it has asynchronous stores
  std::vector<bool> is_async_;
  // For each buffer: the slots to which the statements planned so far have
  // stored asynchronously.
  std::vector<RingSlots> begun_;
  // for each serial loop: number of awaits per iteration
  std::unordered_map<NodeId, int> awaits_;
  // true while PlanLoop runs only to count barriers; inner loops are then not
  // planned with and without the accesses before them
  bool looks_ = false;
  std::vector<NodeId> around_;  // variables of the loops around the planned
                                // statement
  Barriers result_;
};

}  // namespace

size_t Barriers::Count() const {
  return static_cast<size_t>(std::ranges::count(before, true));
}

Barriers PlanBarriers(const loops::LoopNest& nest, const Block& body,
                      const SharedMemory& memory) {
  return BarrierPlanner(nest, body, memory).Run(body);
}

}  // namespace ember::jit::gpu

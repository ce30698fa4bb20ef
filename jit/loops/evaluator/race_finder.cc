#include "jit/loops/evaluator/race_finder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/loops/analysis/combining.h"

namespace ember::loops {
namespace {

// The number of the agent for value 0 of a subgroup loop. The numbers are so
// large that an invocation and a subgroup are never the same agent.
constexpr int64_t kFirstSubgroup = int64_t{1} << 32;

// Returns the agent's number as text: 3, or "3 (a subgroup)".
std::string NumberOf(int64_t agent) {
  return agent < kFirstSubgroup
             ? std::to_string(agent)
             : Concat({agent - kFirstSubgroup, " (a subgroup)"});
}

constexpr char kNotSynchronised[] = "invocations that have not synchronised,";

}  // namespace

Status RaceFinder::BeginPhase(const Phase& phase, bool has_barriers,
                              std::span<const std::vector<int64_t>> extents,
                              std::span<void*> memory) {
  has_barriers_ = has_barriers;
  by_tasks_.Begin();
  EMBER_RETURN_IF_ERROR(shared_.Bind(nest_, phase.workgroup, extents, memory));
  memory_.assign(memory.begin(), memory.end());
  slots_.BeginPhase(nest_, phase);
  counts_.clear();
  slot_sizes_.clear();
  for (const std::vector<int64_t>& dims : extents) {
    int64_t count = 1;
    for (const int64_t extent : dims) count *= extent;
    counts_.push_back(count);
    slot_sizes_.push_back(dims.empty() || dims[0] == 0 ? 1 : count / dims[0]);
  }
  return OkStatus();
}

void RaceFinder::BeginTask(int64_t task) {
  task_ = task;
  since_barrier_.Begin();
  slots_.BeginTask();
  in_flight_.clear();
}

void RaceFinder::BeginInvocations(const Statement& loop) {
  by_invocations_.Begin();
  is_subgroup_loop_ = loop.loop == LoopKind::kSubgroup;
  combines_ = IsCombining(nest_.pool, loop);
  if (!loop.stays_in_flight) return;
  const auto known = std::ranges::find(in_flight_, &loop, &InFlight::products);
  running_ = known != in_flight_.end()
                 ? &*known
                 : &in_flight_.emplace_back(InFlight{&loop, {}, {}});
}

void RaceFinder::SetInvocation(int64_t value) {
  invocation_ = is_subgroup_loop_ ? kFirstSubgroup + value : value;
}

void RaceFinder::BeginFirst() {
  by_invocations_.Begin();
  invocation_ = 0;
}

void RaceFinder::EndInvocations() {
  invocation_ = -1;
  combines_ = false;
  running_ = nullptr;
}

RaceFinder::InFlight* RaceFinder::InFlightOf(const Statement& loop) {
  for (InFlight& each : in_flight_) {
    const bool is_inside =
        std::ranges::any_of(loop.body, [&](const Statement& statement) {
          return &statement == each.products;
        });
    if (is_inside) return &each;
  }
  return nullptr;
}

void RaceFinder::EndIteration(const Statement& loop) {
  if (InFlight* const products = InFlightOf(loop))
    products->before = std::exchange(products->now, {});
}

void RaceFinder::EndLoop(const Statement& loop) {
  if (InFlight* const products = InFlightOf(loop)) products->before.clear();
}

void RaceFinder::Barrier() {
  since_barrier_.Begin();
  for (const InFlight& products : in_flight_) {
    for (const std::vector<Read>* const reads :
         {&products.now, &products.before}) {
      // Notes again the reads of products in flight, which a barrier does not
      // end. The log is empty and gets only reads, so Log finds no race here.
      for (const Read& read : *reads)
        Log(since_barrier_, read.buffer, read.position, read.agent, false);
    }
  }
}

Status RaceFinder::NoteStep(SlotStep step, uint32_t ring, int64_t slot) {
  switch (step) {
    case SlotStep::kFill:
      return slots_.Fill(ring, slot);
    case SlotStep::kAwait:
      return slots_.Await(ring, slot, invocation_);
    case SlotStep::kRelease:
      return slots_.Release(ring, slot, invocation_);
  }
  return OkStatus();
}

int64_t RaceFinder::Log(AccessLog& log, uint32_t buffer, int64_t position,
                        int64_t agent, bool stores) const {
  if (shared_.Has(buffer))
    return shared_.Note(log, buffer, position, agent, stores);
  return log.Note(memory_[buffer], static_cast<size_t>(counts_[buffer]),
                  position, agent, stores);
}

Status RaceFinder::NoteIn(AccessLog& log, uint32_t buffer, int64_t position,
                          int64_t agent, bool stores, const char* what) {
  const int64_t other = Log(log, buffer, position, agent, stores);
  if (other < 0) return OkStatus();
  return InternalError(
      Concat({"buffer %", nest_.buffers[buffer].name, ": element ", position,
              " is accessed by ", what, " ", NumberOf(agent), " and ",
              NumberOf(other), " at once, and stored to"}));
}

Status RaceFinder::Note(uint32_t buffer, int64_t position, bool stores) {
  const bool notes = refuses_races_ || has_barriers_;
  if (!notes || task_ < 0) return OkStatus();
  const MemoryScope scope = nest_.buffers[buffer].scope;
  if (scope == MemoryScope::kRegister) return OkStatus();
  if (has_barriers_ && slots_.Has(buffer))
    return slots_.Note(buffer, position / slot_sizes_[buffer], stores,
                       invocation_);
  if (has_barriers_) {
    const bool is_own = invocation_ >= 0 && !(combines_ && stores);
    const int64_t first = is_own ? invocation_ : 0;
    EMBER_RETURN_IF_ERROR(NoteIn(since_barrier_, buffer, position, first,
                                 stores, kNotSynchronised));
    // Outside of invocation loops every invocation performs the access.
    // Recording two of them is enough to detect a race.
    if (invocation_ < 0 && !stores) {
      EMBER_RETURN_IF_ERROR(NoteIn(since_barrier_, buffer, position, 1, stores,
                                   kNotSynchronised));
    }
    if (running_ != nullptr && !stores)
      running_->now.push_back({buffer, position, first});
  }
  if (!refuses_races_) return OkStatus();
  if (scope != MemoryScope::kTask) {
    EMBER_RETURN_IF_ERROR(
        NoteIn(by_tasks_, buffer, position, task_, stores, "tasks"));
  }
  if (invocation_ < 0 || (combines_ && stores)) return OkStatus();
  return NoteIn(by_invocations_, buffer, position, invocation_, stores,
                "invocations");
}

}  // namespace ember::loops

#include "jit/loops/evaluator/ring_slots.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::loops {
namespace {

bool IsInBody(const Statement* statement, const Statement& loop) {
  return std::ranges::any_of(
      loop.body, [&](const Statement& inner) { return &inner == statement; });
}

}  // namespace

void RingSlots::BeginPhase(const LoopNest& nest, const Phase& phase) {
  nest_ = &nest;
  phase_ = &phase;
  ring_of_.clear();
  rings_.assign(phase.workgroup.rings.size(), {});
  FindBuffers(phase.body);
}

void RingSlots::FindBuffers(const Block& block) {
  for (const Statement& statement : block) {
    if (statement.box != nullptr && statement.box->ring < rings_.size())
      ring_of_.emplace(statement.box->to, statement.box->ring);
    FindBuffers(statement.body);
  }
}

Status RingSlots::Note(uint32_t buffer, int64_t slot, bool stores) {
  State& state = rings_[ring_of_.at(buffer)].slots[slot];
  if (stores == (state != State::kFull)) {
    if (stores) state = State::kFilled;
    return OkStatus();
  }
  return InternalError(
      Concat({"buffer %", nest_->buffers[buffer].name, ": slot ", slot,
              stores ? " is stored to before its readers have released it"
                     : " is read by a loop that does not await it"}));
}

Status RingSlots::Await(const Statement& reader, const SlotUse& use,
                        int64_t slot) {
  Ring& ring = rings_[use.ring];
  State& state = ring.slots[slot];
  if (state != State::kFilled) {
    return InternalError(Concat(
        {"ring ", use.ring, ": slot ", slot, " is awaited, but not filled"}));
  }
  state = State::kFull;
  if (!phase_->workgroup.rings[use.ring].stays_in_flight) return OkStatus();
  ring.reader = &reader;
  ring.now = slot;
  return OkStatus();
}

void RingSlots::Release(const SlotUse& use, int64_t slot) {
  rings_[use.ring].slots[slot] = State::kEmpty;
}

void RingSlots::Leave(Ring& ring, std::optional<int64_t>& slot) {
  if (slot) ring.slots[*slot] = State::kEmpty;
  slot.reset();
}

void RingSlots::EndIteration(const Statement& loop) {
  for (Ring& ring : rings_) {
    if (ring.reader == nullptr || !IsInBody(ring.reader, loop)) continue;
    Leave(ring, ring.before);
    ring.before = std::exchange(ring.now, std::nullopt);
  }
}

void RingSlots::EndLoop(const Statement& loop) {
  for (Ring& ring : rings_) {
    if (ring.reader == nullptr || !IsInBody(ring.reader, loop)) continue;
    Leave(ring, ring.before);
    ring.reader = nullptr;
  }
}

}  // namespace ember::loops

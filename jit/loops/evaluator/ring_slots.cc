#include "jit/loops/evaluator/ring_slots.h"

#include <string_view>

#include "base/concat.h"

namespace ember::loops {

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

Status RingSlots::Note(uint32_t buffer, int64_t slot, bool stores,
                       int64_t subgroup) {
  const Slot& state = rings_[ring_of_.at(buffer)][slot];
  if (stores ? state.is_filled && !state.is_full
             : state.readers.contains(subgroup) &&
                   !state.released.contains(subgroup)) {
    return OkStatus();
  }
  return InternalError(
      Concat({"buffer %", nest_->buffers[buffer].name, ": slot ", slot,
              stores ? " is stored to, but not being filled"
                     : " is read by a subgroup that does not await it"}));
}

Status RingSlots::Fill(uint32_t ring, int64_t slot) {
  Slot& state = rings_[ring][slot];
  if (state.is_filled) {
    return InternalError(
        Concat({"ring ", ring, ": slot ", slot,
                " is filled before its readers have released it"}));
  }
  state.is_filled = true;
  return OkStatus();
}

Status RingSlots::Await(uint32_t ring, int64_t slot, int64_t subgroup) {
  Slot& state = rings_[ring][slot];
  if (!state.is_filled || !state.readers.insert(subgroup).second) {
    return InternalError(Concat(
        {"ring ", ring, ": slot ", slot, " is awaited, but not filled"}));
  }
  state.is_full = true;
  return OkStatus();
}

Status RingSlots::Release(uint32_t ring, int64_t slot, int64_t subgroup) {
  Slot& state = rings_[ring][slot];
  if (!state.readers.contains(subgroup) ||
      !state.released.insert(subgroup).second) {
    constexpr std::string_view kWhat =
        " is released by a subgroup that does not read it";
    return InternalError(Concat({"ring ", ring, ": slot ", slot, kWhat}));
  }
  const auto readers =
      static_cast<size_t>(phase_->workgroup.rings[ring].subgroups);
  if (state.released.size() == readers) state = {};
  return OkStatus();
}

}  // namespace ember::loops

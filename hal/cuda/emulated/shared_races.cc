#include "hal/cuda/emulated/shared_races.h"

#include <algorithm>

namespace ember::hal::cuda {
namespace {

uint32_t Get(const Clock& clock, uint32_t who) {
  return who < clock.size() ? clock[who] : 0;
}

void Set(Clock& clock, uint32_t who, uint32_t time) {
  if (who >= clock.size()) clock.resize(who + 1);
  clock[who] = time;
}

void Join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

}  // namespace

void SharedRaces::BeginBlock() {
  held_.assign(held_.size(), {});
  agent_times_.clear();
  Barrier();
}

void SharedRaces::Barrier() {
  if (agent_times_.empty()) {
    ++epoch_;
    clocks_.clear();
    return;
  }
  std::vector<uint32_t> all(threads_);
  for (uint32_t i = 0; i < threads_; ++i) all[i] = i;
  Synchronize(all);
}

void SharedRaces::NeedClocks() {
  if (!clocks_.empty()) return;
  clocks_.resize(threads_);
  for (uint32_t i = 0; i < threads_; ++i) Set(clocks_[i], i, 1);
}

void SharedRaces::Synchronize(std::span<const uint32_t> threads) {
  NeedClocks();
  Clock joint;
  for (const uint32_t thread : threads) Join(joint, clocks_[thread]);
  for (const uint32_t thread : threads) {
    clocks_[thread] = joint;
    Set(clocks_[thread], thread, Get(joint, thread) + 1);
  }
}

void SharedRaces::Release(uint32_t who, Clock& clock) {
  NeedClocks();
  if (who >= threads_) {
    const uint32_t time = agent_times_[who - threads_]++;
    Set(clock, who, std::max(Get(clock, who), time));
    return;
  }
  Join(clock, clocks_[who]);
  Set(clocks_[who], who, Get(clocks_[who], who) + 1);
}

void SharedRaces::Acquire(uint32_t thread, const Clock& clock) {
  NeedClocks();
  Join(clocks_[thread], clock);
}

uint32_t SharedRaces::TimeOf(uint32_t who) const {
  if (who >= threads_) return agent_times_[who - threads_];
  return clocks_.empty() ? 1 : Get(clocks_[who], who);
}

bool SharedRaces::IsOver(const Who& what, uint32_t thread) const {
  if (what.number == kNobody || what.number == thread) return true;
  return !clocks_.empty() && Get(clocks_[thread], what.number) >= what.time;
}

SharedRaces::Byte& SharedRaces::At(uint64_t offset) {
  Byte& byte = bytes_[offset];
  if (byte.epoch != epoch_) {
    byte = {};
    byte.epoch = epoch_;
  }
  return byte;
}

// Adds a thread to the readers of a byte that are stored, of which there are
// only four. If possible it replaces a reader that happens before it: an access
// that is ordered after the new reader is then also ordered after the replaced
// one.
void SharedRaces::Note(std::span<Who> places, uint32_t thread) {
  const auto place = std::ranges::find_if(
      places, [&](const Who& who) { return IsOver(who, thread); });
  const Who noted = {thread, TimeOf(thread)};
  (place == places.end() ? places.back() : *place) = noted;
}

std::optional<uint32_t> SharedRaces::Store(uint32_t thread, Who as,
                                           uint64_t offset) {
  if (held_[offset].times != 0) return held_[offset].thread;
  Byte& byte = At(offset);
  if (!IsOver(byte.writer, thread)) return byte.writer.number;
  for (const Who& who : byte.atomics) {
    if (!IsOver(who, thread)) return who.number;
  }
  for (const Who& who : byte.readers) {
    if (!IsOver(who, thread)) return who.number;
  }
  byte.writer = as;
  return std::nullopt;
}

std::optional<uint32_t> SharedRaces::Access(uint32_t thread, uint64_t offset,
                                            uint64_t bytes, AccessKind kind) {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    if (kind == AccessKind::kStore) {
      const auto other = Store(thread, {thread, TimeOf(thread)}, i);
      if (other) return other;
      continue;
    }
    Byte& byte = At(i);
    if (!IsOver(byte.writer, thread)) return byte.writer.number;
    if (kind == AccessKind::kLoad) {
      for (const Who& who : byte.atomics) {
        if (!IsOver(who, thread)) return who.number;
      }
      Note(byte.readers, thread);
      continue;
    }
    if (held_[i].times != 0) return held_[i].thread;
    for (const Who& who : byte.readers) {
      if (!IsOver(who, thread)) return who.number;
    }
    Note(byte.atomics, thread);
  }
  return std::nullopt;
}

void SharedRaces::Hold(uint32_t thread, uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i)
    held_[i] = {held_[i].times + 1, thread};
}

void SharedRaces::Release(uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i) --held_[i].times;
}

uint32_t SharedRaces::AddAgent() {
  agent_times_.push_back(1);
  return threads_ + static_cast<uint32_t>(agent_times_.size()) - 1;
}

std::optional<uint32_t> SharedRaces::StoreBy(uint32_t agent, uint32_t thread,
                                             uint64_t offset, uint64_t bytes) {
  NeedClocks();
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    const auto other = Store(thread, {agent, TimeOf(agent)}, i);
    if (other) return other;
  }
  return std::nullopt;
}

}  // namespace ember::hal::cuda

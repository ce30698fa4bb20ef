#include "hal/cuda/emulated/shared_races.h"

namespace ember::hal::cuda {

std::optional<uint32_t> SharedRaces::Access(uint32_t thread, uint64_t offset,
                                            uint64_t bytes, AccessKind kind) {
  const auto is_other = [&](uint32_t who) {
    return who != kNobody && who != thread;
  };
  // Notes the thread in one of two places.
  const auto note = [&](uint32_t& first, uint32_t& second) {
    if (first == kNobody || first == thread)
      first = thread;
    else
      second = thread;
  };
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    Byte& byte = bytes_[i];
    if (byte.epoch != epoch_) byte = {.epoch = epoch_};
    if (kind != AccessKind::kLoad && held_[i].times != 0)
      return held_[i].thread;
    if (is_other(byte.writer)) return byte.writer;
    if (kind != AccessKind::kAtomic) {
      for (uint32_t who : {byte.atomic, byte.other_atomic}) {
        if (is_other(who)) return who;
      }
    }
    if (kind != AccessKind::kLoad) {
      for (uint32_t who : byte.readers) {
        if (is_other(who)) return who;
      }
    }
    switch (kind) {
      case AccessKind::kLoad:
        note(byte.readers[0], byte.readers[1]);
        break;
      case AccessKind::kStore:
        byte.writer = thread;
        break;
      case AccessKind::kAtomic:
        note(byte.atomic, byte.other_atomic);
        break;
    }
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

}  // namespace ember::hal::cuda

// Finds races in the shared memory of a block: accesses of one byte by two
// threads, one of them storing, of which neither is known to be over when the
// other one begins.
//
//   SharedRaces races(48 << 10, /*threads=*/128);
//   races.BeginBlock();
//   races.Access(3, 128, 4, AccessKind::kStore);   // nothing
//   races.Access(5, 128, 4, AccessKind::kLoad);    // thread 3
//   races.Barrier();
//
// What is over, threads know by meeting: all of them (Barrier), some of them
// (Meet), or one by what another one left for it (Release, Acquire). Atomic
// accesses do not race with each other.
//
// What hardware reads beside the threads, beyond barriers, it holds until that
// is over: whoever stores there, races.
//
//   races.Hold(3, 128, 16);
//   races.Barrier();
//   races.Access(3, 130, 1, AccessKind::kStore);   // thread 3
//   races.Release(128, 16);
//
// What hardware stores beside the threads, an agent of its own does: nobody
// knows that it is over but who has acquired what says so.
//
//   const uint32_t agent = races.AddAgent();
//   races.StoreBy(agent, /*begun by*/ 3, 128, 16);
//   Clock clock;
//   races.Release(agent, clock);
//   races.Acquire(5, clock);
//   races.Access(5, 128, 4, AccessKind::kLoad);    // nothing
//
// That is done by vector clocks: Lamport 1978, Mattern 1989; of many readers of
// a byte four are remembered, those that others are not known to follow first.
//
// Not thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_
#define EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

// By thread or agent: up to which of its times all is over.
using Clock = std::vector<uint32_t>;

class SharedRaces {
 public:
  SharedRaces(uint64_t bytes, uint32_t threads)
      : threads_(threads), bytes_(bytes), held_(bytes) {}

  void BeginBlock();
  // All threads of the block have met: what was before is over, but for what
  // agents do.
  void Barrier();
  // These threads have.
  void Meet(std::span<const uint32_t> threads);
  // Adds what the thread or agent did, and knows to be over, to the clock; and
  // tells a thread what a clock has.
  void Release(uint32_t who, Clock& clock);
  void Acquire(uint32_t thread, const Clock& clock);

  // The thread, or agent, with which the access races, if there is one.
  std::optional<uint32_t> Access(uint32_t thread, uint64_t offset,
                                 uint64_t bytes, AccessKind kind);
  // For the thread, as often as it is released.
  void Hold(uint32_t thread, uint64_t offset, uint64_t bytes);
  void Release(uint64_t offset, uint64_t bytes);

  // Numbered on from the threads; until the next block.
  uint32_t AddAgent();
  // A store that the thread begins and the agent does: with whom it races.
  std::optional<uint32_t> StoreBy(uint32_t agent, uint32_t thread,
                                  uint64_t offset, uint64_t bytes);

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Who {
    uint32_t number = kNobody;
    uint32_t time = 0;
  };
  // What happened to a byte since the last barrier: in `epoch`, or nothing.
  struct Byte {
    uint64_t epoch = 0;
    Who writer;
    std::array<Who, 4> readers;
    std::array<Who, 2> atomics;
  };
  struct Held {
    uint32_t times = 0;
    uint32_t thread = kNobody;  // who came last
  };

  // Clocks are there from the first time on that not all meet.
  void NeedClocks();
  uint32_t TimeOf(uint32_t who) const;
  bool IsOver(const Who& what, uint32_t thread) const;
  std::optional<uint32_t> Store(uint32_t thread, Who as, uint64_t byte);
  // Notes the reader in one of the places.
  void Note(std::span<Who> places, uint32_t thread);
  Byte& At(uint64_t offset);

  const uint32_t threads_;
  uint64_t epoch_ = 1;
  std::vector<Byte> bytes_;
  std::vector<Held> held_;     // by byte
  std::vector<Clock> clocks_;  // by thread, then by agent; or empty
  std::vector<uint32_t> agent_times_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

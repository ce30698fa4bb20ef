// Finds data races in the shared memory of a block: accesses of one byte by two
// threads, one of them storing, of which neither is known to happen before the
// other.
//
//   SharedRaces races(48 << 10, /*threads=*/128);
//   races.BeginBlock();
//   races.Access(3, 128, 4, AccessKind::kStore);   // nothing
//   races.Access(5, 128, 4, AccessKind::kLoad);    // thread 3
//   races.Barrier();
//
// Threads learn what is over by synchronising: all of them (Barrier), some of
// them (Meet), or one with the record that another one left (Release, Acquire).
// Atomic accesses do not race with each other.
//
// Hardware may read bytes independently of the threads and of barriers. It
// holds them until the read is over: a store to them is a race.
//
//   races.Hold(3, 128, 16);
//   races.Barrier();
//   races.Access(3, 130, 1, AccessKind::kStore);   // thread 3
//   races.Release(128, 16);
//
// Hardware that stores independently of the threads is an agent of its own. A
// thread knows that such a store is over only if it has acquired the record of
// its end.
//
//   const uint32_t agent = races.AddAgent();
//   races.StoreBy(agent, /*begun by*/ 3, 128, 16);
//   Clock clock;
//   races.Release(agent, clock);
//   races.Acquire(5, clock);
//   races.Access(5, 128, 4, AccessKind::kLoad);    // nothing
//
// The method is vector clocks (Lamport 1978, Mattern 1989). Four readers of a
// byte are remembered, preferably those that are not known to happen before
// others.
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

// A vector clock. For each thread or agent: the time up to which everything
// that it did is over.
using Clock = std::vector<uint32_t>;

class SharedRaces {
 public:
  SharedRaces(uint64_t bytes, uint32_t threads)
      : threads_(threads), bytes_(bytes), held_(bytes) {}

  void BeginBlock();
  // Records that all threads of the block have synchronised: everything before
  // is over, except the work of agents.
  void Barrier();
  // Records that these threads have synchronised.
  void Meet(std::span<const uint32_t> threads);
  // Release adds everything that the thread or agent did, and knows to be over,
  // to the clock. Acquire adds the clock to the knowledge of a thread.
  void Release(uint32_t who, Clock& clock);
  void Acquire(uint32_t thread, const Clock& clock);

  // Returns the thread or agent with which the access races, if there is one.
  std::optional<uint32_t> Access(uint32_t thread, uint64_t offset,
                                 uint64_t bytes, AccessKind kind);
  // Holds bytes for the thread; each call needs its own Release.
  void Hold(uint32_t thread, uint64_t offset, uint64_t bytes);
  void Release(uint64_t offset, uint64_t bytes);

  // Adds an agent and returns its number, which is after those of the threads;
  // valid until the next block.
  uint32_t AddAgent();
  // Records a store that the thread begins and the agent performs. Returns the
  // thread or agent with which it races.
  std::optional<uint32_t> StoreBy(uint32_t agent, uint32_t thread,
                                  uint64_t offset, uint64_t bytes);

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Who {
    uint32_t number = kNobody;
    uint32_t time = 0;
  };
  // Accesses of a byte since the last barrier, which was number `epoch`; none
  // in other epochs.
  struct Byte {
    uint64_t epoch = 0;
    Who writer;
    std::array<Who, 4> readers;
    std::array<Who, 2> atomics;
  };
  struct Held {
    uint32_t times = 0;
    uint32_t thread = kNobody;  // number of the last accessor
  };

  // Creates the clocks. They exist from the first synchronisation that is not
  // of all threads.
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
  std::vector<Held> held_;  // one item per byte
  // one clock per thread, then one per agent; or empty
  std::vector<Clock> clocks_;
  std::vector<uint32_t> agent_times_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

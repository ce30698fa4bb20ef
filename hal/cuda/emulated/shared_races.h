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
// An access of one thread happens before an access of another one if the
// threads synchronise in between: all threads (Barrier), some of them
// (Synchronize), or one thread that acquires the clock that another thread has
// released (Release, Acquire). Atomic accesses do not race with each other.
//
// Hardware may read bytes independently of the threads and of barriers. Such
// bytes are held until the read is over: a store to held bytes is a race.
//
//   races.Hold(3, 128, 16);
//   races.Barrier();
//   races.Access(3, 130, 1, AccessKind::kStore);   // thread 3
//   races.Release(128, 16);
//
// Hardware that stores independently of the threads is an agent of its own. A
// thread knows that such a store is over only after it has acquired the clock
// that the agent released.
//
//   const uint32_t agent = races.AddAgent();
//   races.StoreBy(agent, /*begun by*/ 3, 128, 16);
//   Clock clock;
//   races.Release(agent, clock);
//   races.Acquire(5, clock);
//   races.Access(5, 128, 4, AccessKind::kLoad);    // nothing
//
// The method is vector clocks (Lamport 1978, Mattern 1989). For each byte at
// most four readers are stored, preferably readers that do not happen before
// other readers.
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

// A vector clock. For each thread or agent it holds the time up to which
// everything that this thread or agent did is known to be over.
using Clock = std::vector<uint32_t>;

class SharedRaces {
 public:
  SharedRaces(uint64_t bytes, uint32_t threads)
      : threads_(threads), bytes_(bytes), held_(bytes) {}

  void BeginBlock();
  // Records that all threads of the block have synchronised. Everything that
  // happened before is then over, except the work of agents.
  void Barrier();
  // Records that these threads of the block have synchronised with each other.
  void Synchronize(std::span<const uint32_t> threads);
  // Release adds everything that the thread or agent `who` did, and everything
  // that it knows to be over, to the clock. Acquire adds the clock's contents
  // to the knowledge of a thread.
  void Release(uint32_t who, Clock& clock);
  void Acquire(uint32_t thread, const Clock& clock);

  // Records an access. Returns the thread or agent with whose earlier access it
  // races, if there is one.
  std::optional<uint32_t> Access(uint32_t thread, uint64_t offset,
                                 uint64_t bytes, AccessKind kind);
  // Holds bytes that hardware reads for the thread. Each call needs a Release
  // of its own.
  void Hold(uint32_t thread, uint64_t offset, uint64_t bytes);
  void Release(uint64_t offset, uint64_t bytes);

  // Adds an agent and returns its number. Numbers of agents follow those of the
  // threads; they are valid until BeginBlock.
  uint32_t AddAgent();
  // Records a store that the thread begins and the agent performs. Returns the
  // thread or agent with whose earlier access the store races, if there is one.
  std::optional<uint32_t> StoreBy(uint32_t agent, uint32_t thread,
                                  uint64_t offset, uint64_t bytes);

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Who {
    uint32_t number = kNobody;
    uint32_t time = 0;
  };
  // The accesses of a byte since the last barrier of all threads. They are
  // valid only if `epoch` is the number of the present interval between such
  // barriers; otherwise the byte counts as not accessed.
  struct Byte {
    uint64_t epoch = 0;
    Who writer;
    std::array<Who, 4> readers;
    std::array<Who, 2> atomics;
  };
  struct Held {
    uint32_t times = 0;
    uint32_t thread = kNobody;  // thread for which the byte was held last
  };

  // Creates the clocks if there are none. As long as threads synchronise only
  // all together, epoch_ is enough and no clocks are needed.
  void NeedClocks();
  uint32_t TimeOf(uint32_t who) const;
  bool IsOver(const Who& what, uint32_t thread) const;
  std::optional<uint32_t> Store(uint32_t thread, Who as, uint64_t byte);
  // Records the thread as a reader of a byte, in one of the entries `places`.
  void Note(std::span<Who> places, uint32_t thread);
  Byte& At(uint64_t offset);

  const uint32_t threads_;
  uint64_t epoch_ = 1;
  std::vector<Byte> bytes_;
  // For each byte of shared memory: by how many reads it is held, and for which
  // thread.
  std::vector<Held> held_;
  // One clock per thread, then one per agent. The list is empty until
  // NeedClocks is called.
  std::vector<Clock> clocks_;
  std::vector<uint32_t> agent_times_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

// A grid while it runs: its threads as fibers, what each waits for, and the
// memory that they share. What RunGrid (grid.h) runs a launch by.
//
//   GridStatistics statistics;
//   std::string problem = GridRunner(launch, memory, statistics).Run();
//
// grid.cc has what decides which thread goes on; grid_calls.cc and
// grid_products.cc what kernels call. Not thread-safe: it is one thread's.
#ifndef EMBER_HAL_CUDA_EMULATED_GRID_RUNNER_H_
#define EMBER_HAL_CUDA_EMULATED_GRID_RUNNER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "hal/cuda/emulated/async_copies.h"
#include "hal/cuda/emulated/copy_barriers.h"
#include "hal/cuda/emulated/fiber.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/emulated/shared_races.h"
#include "hal/cuda/emulated/unordered_stores.h"
#include "hal/cuda/emulated/warp_matrices.h"

namespace ember::hal::cuda {

// For messages: "(3, 0, 0)".
inline std::string PlaceText(const std::array<uint32_t, 3>& place) {
  return Concat({"(", place[0], ", ", place[1], ", ", place[2], ")"});
}

// Of number `number`, counted along x first.
inline std::array<uint32_t, 3> PlaceOf(uint32_t number,
                                       const std::array<uint32_t, 3>& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / extents[0] / extents[1]};
}

// Stacks of this thread's grids, of which one runs at a time: they are used
// again.
std::deque<Fiber>& FibersOfThread();

class GridRunner {
 public:
  GridRunner(const GridLaunch& launch, const FindMemory& memory,
             GridStatistics& statistics);
  std::string Run();

 private:
  enum class State : uint8_t {
    kRuns,
    kAtBarrier,
    kWithWarp,
    kAwaitsPhase,
    kIsDone
  };
  struct HeldBytes {
    uint64_t offset = 0;  // in shared memory
    uint64_t bytes = 0;
  };
  using WideFactors = std::pair<const void*, const void*>;
  struct Thread {
    GridThread seen;
    State state = State::kRuns;
    // What this thread brings to a meeting of its warp, by turns, so that who
    // is ahead does not overwrite what others are still to read.
    struct Brought {
      uint32_t value = 0;            // shuffles
      WarpOperands operands = {};    // products
      const uint8_t* row = nullptr;  // loads of matrices
    };
    std::array<Brought, 2> brought = {};
    uint32_t meetings = 0;
    uint32_t mask = 0;
    // At which barrier it is, for how many threads; 0: of all.
    uint32_t barrier = 0;
    uint32_t barrier_threads = 0;
    // For which phase of which copy barrier it waits.
    uint64_t copy_barrier = 0;
    uint32_t parity = 0;
    AsyncCopies copies;
    // What products read that are not awaited: those since the last commit, and
    // the groups before that, the oldest first.
    std::vector<HeldBytes> held;
    std::deque<std::vector<HeldBytes>> held_groups;
    size_t wide_products = 0;  // so far
  };

  static GridRunner& Of(GridThread* thread) {
    return *static_cast<GridRunner*>(thread->runner);
  }
  uint32_t NumberOf(const GridThread& thread) const {
    return thread.thread[0] +
           launch_.threads[0] *
               (thread.thread[1] + launch_.threads[1] * thread.thread[2]);
  }
  Fiber& FiberOf(uint32_t number) {
    return fibers_[launch_.kernel.meets ? number : 0];
  }

  void StartThread(uint32_t number);
  void RunOneByOne();
  void RunTogether();
  bool IsAtBarrierOfAll(const Thread& thread) const;
  std::string WhatItDoes(const Thread& thread) const;

  // All that are not at the barrier by now never will be.
  bool ReleaseBarrier();

  // Of barriers at which as many threads wait as are to meet there.
  bool ReleaseMeetings();

  // Of phases of copy barriers that are over, or lack only copies that a GPU
  // has had time for by now.
  bool ReleasePhases();

  // Of each warp whose shuffle has all of its threads.
  bool ReleaseWarps();

  // --- what kernels call ---
  static void Barrier(GridThread* thread);
  static void Meet(GridThread* seen, uint32_t barrier, uint32_t threads);

  // --- copy barriers
  uint64_t OffsetOf(uint32_t number, const void* pointer);
  static void MakeCopyBarrier(GridThread* seen, void* barrier,
                              uint32_t arrivals);
  static void Arrive(GridThread* seen, void* barrier, uint32_t bytes);
  static void AwaitPhase(GridThread* seen, void* barrier, uint32_t parity);
  static void CopyBox(GridThread* seen, const void* map_bytes, uint32_t rank,
                      const int32_t* coordinates, void* to, void* barrier);

  // Waits for the threads of the warp that the mask names.
  void MeetWarp(uint32_t number, uint32_t mask);

  // Thread 0 of a whole warp, of which `number` is one; what: for a line.
  uint32_t WholeWarpOf(uint32_t number, const char* what);
  static void Multiply(GridThread* seen, uint32_t packed,
                       const uint32_t* operands, uint32_t* result);
  static void MultiplyWide(GridThread* seen, uint32_t packed, uint32_t columns,
                           uint32_t is_transposed, uint64_t descriptor,
                           const uint32_t* a, const void* b, uint32_t* sums);
  static void MultiplyShared(GridThread* seen, uint32_t packed,
                             uint32_t columns, uint32_t is_a_transposed,
                             uint64_t a_descriptor, const void* a,
                             uint32_t is_transposed, uint64_t descriptor,
                             const void* b, uint32_t* sums);

  // The four warps multiply by the same matrices in shared memory. Whose thread
  // comes first to a product of its group says which.
  void CheckGroup(uint32_t number, const void* a, const void* b);
  SharedMatrix MatrixAt(const void* begin, uint64_t descriptor,
                        uint32_t is_transposed, DType type) const;

  // Each lane looks at some of the matrix' pieces of 16 bytes, which it holds
  // until they are awaited.
  void BeginMatrix(uint32_t number, const SharedMatrix& matrix, uint32_t depth,
                   uint32_t columns);
  static void CommitProducts(GridThread* seen);
  static void AwaitProducts(GridThread* seen, uint32_t groups);
  static void OrderStores(GridThread* seen);
  static void LoadMatrices(GridThread* seen, uint32_t count,
                           uint32_t is_transposed, const void* row,
                           uint32_t* result);
  void CheckRow(const GridThread& thread, uint32_t number, const void* row);

  static void CopyAsync(GridThread* seen, uint32_t bytes, void* to,
                        const void* from, uint32_t read);
  static void CommitCopies(GridThread* seen);

  // The end of a copy counts as a store, too: a thread that reads the bytes
  // without a barrier behind it reads too early.
  static void AwaitCopies(GridThread* seen, uint32_t groups);

  // 16 bytes are four banks: eight rows in different fours are one pass.
  void CountPasses(std::span<const uint8_t* const> rows, uint32_t count);
  static uint32_t Shuffle(GridThread* seen, uint32_t mode, uint32_t mask,
                          uint32_t value, uint32_t b, uint32_t c);
  static float PowerOfTwo(GridThread* seen, float x);
  static void Access(GridThread* thread, const void* pointer, uint64_t bytes,
                     uint32_t kind);
  void CheckAccess(const GridThread& thread, uintptr_t address, uint64_t bytes,
                   AccessKind kind);
  void CheckShared(uint32_t number, uint64_t offset, uint64_t bytes,
                   AccessKind kind);

  // Leaves the kernel for good.
  void Fail(uint32_t number, const std::string& what);

  static constexpr auto kLoadKind = static_cast<uint32_t>(AccessKind::kLoad);
  static constexpr auto kStoreKind = static_cast<uint32_t>(AccessKind::kStore);
  static constexpr GridFunctions kFunctions = {
      Barrier,        Shuffle,        Multiply,      MultiplyWide,
      MultiplyShared, CommitProducts, AwaitProducts, LoadMatrices,
      CopyAsync,      CommitCopies,   AwaitCopies,   Access,
      OrderStores,    PowerOfTwo,     Meet,          MakeCopyBarrier,
      Arrive,         AwaitPhase,     CopyBox};

  const GridLaunch& launch_;
  const FindMemory& memory_;
  GridStatistics& statistics_;
  const uint32_t thread_count_;
  const uint64_t shared_bytes_;
  SharedRaces races_;
  CopyBarriers copy_barriers_;
  UnorderedStores unordered_;
  std::vector<uint8_t> shared_memory_;
  uint8_t* shared_ = nullptr;
  std::vector<Thread> threads_;
  // By warpgroup: the factors in shared memory of its products.
  std::map<uint32_t, std::vector<WideFactors>> wide_products_;
  std::deque<Fiber>& fibers_ = FibersOfThread();
  std::array<uint32_t, 3> block_ = {};
  MemoryRange last_;  // of the last access
  std::string problem_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_RUNNER_H_

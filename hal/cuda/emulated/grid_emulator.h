// The state of a running grid: its threads as fibers, the event for which each
// thread waits, and their shared memory. RunGrid (grid.h) uses it.
//
//   GridStatistics statistics;
//   std::string problem = GridEmulator(launch, memory, statistics).Run();
//
// grid.cc decides which thread continues; grid_calls.cc and grid_products.cc
// implement the functions that kernels call. Not thread-safe: it belongs to one
// thread.
#ifndef EMBER_HAL_CUDA_EMULATED_GRID_EMULATOR_H_
#define EMBER_HAL_CUDA_EMULATED_GRID_EMULATOR_H_

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

// Formats the position of a thread or block for messages: "(3, 0, 0)".
inline std::string PositionText(const std::array<uint32_t, 3>& position) {
  return Concat({"(", position[0], ", ", position[1], ", ", position[2], ")"});
}

// Returns the position of the thread or block with the number `number`; x
// varies fastest.
inline std::array<uint32_t, 3> PositionOf(
    uint32_t number, const std::array<uint32_t, 3>& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / extents[0] / extents[1]};
}

// Returns the fibers of the calling thread. They are reused for all grids that
// it runs, because it runs one grid at a time.
std::deque<Fiber>& FibersOfThread();

class GridEmulator {
 public:
  GridEmulator(const GridLaunch& launch, const FindMemory& memory,
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
    // Offset in shared memory of some bytes of a product's operand.
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  using WideFactors = std::pair<const void*, const void*>;
  struct Thread {
    GridThread seen;
    State state = State::kRuns;
    // The inputs that the thread passes to an operation of its warp. There are
    // two sets of them, so that a thread that has reached the next operation
    // does not overwrite inputs that other threads still read.
    struct Brought {
      uint32_t value = 0;  // value that a shuffle exchanges with
                           // other threads
      // This thread's part of the operands of a matrix product.
      WarpOperands operands = {};
      // The row of 16 bytes whose address this thread passes when its warp
      // loads matrices.
      const uint8_t* row = nullptr;
    };
    std::array<Brought, 2> brought = {};
    uint32_t synchronizations = 0;
    uint32_t mask = 0;
    // The barrier at which the thread waits, and the number of threads that
    // must wait there; 0 means all threads of the block.
    uint32_t barrier = 0;
    uint32_t barrier_threads = 0;
    // Offset of the copy barrier, and parity of its phase, for which the thread
    // waits.
    uint64_t copy_barrier = 0;
    uint32_t parity = 0;
    AsyncCopies copies;
    // Operands in shared memory of products for which the thread has not
    // waited. `held`: those since the last commit. `held_groups`: those of
    // earlier groups, the oldest first.
    std::vector<HeldBytes> held;
    std::deque<std::vector<HeldBytes>> held_groups;
    size_t wide_products = 0;  // number of warpgroup products (wgmma) that the
                               // thread has made so far
  };

  static GridEmulator& Of(GridThread* thread) {
    return *static_cast<GridEmulator*>(thread->emulator);
  }
  uint32_t NumberOf(const GridThread& thread) const {
    return thread.thread[0] +
           launch_.threads[0] *
               (thread.thread[1] + launch_.threads[1] * thread.thread[2]);
  }
  Fiber& FiberOf(uint32_t number) {
    return fibers_[launch_.kernel.has_barriers ? number : 0];
  }

  void StartThread(uint32_t number);
  void RunOneByOne();
  void RunTogether();
  bool IsAtBarrierOfAll(const Thread& thread) const;
  std::string WhatItDoes(const Thread& thread) const;

  // Releases the threads at the barrier of the whole block. It is called when
  // no thread can run, so a thread that is not at the barrier will never reach
  // it; that is an error.
  bool ReleaseBarrier();

  // Releases the threads at each numbered barrier at which the required number
  // of threads wait.
  bool ReleaseNumberedBarriers();

  // Ends phases of copy barriers and releases the threads that wait for them:
  // phases that are over, and phases that wait only for copies that have begun,
  // because no thread can run and so a GPU would have performed these by now.
  bool ReleasePhases();

  // Releases each warp in which all threads that take part in its operation
  // have arrived.
  bool ReleaseWarps();

  // --- the functions that kernels call (GridFunctions) ---
  static void Barrier(GridThread* thread);
  static void Synchronize(GridThread* seen, uint32_t barrier, uint32_t threads);

  // --- copy barriers
  uint64_t OffsetOf(uint32_t number, const void* pointer);
  static void MakeCopyBarrier(GridThread* seen, void* barrier,
                              uint32_t arrivals);
  static void Arrive(GridThread* seen, void* barrier, uint32_t bytes);
  static void AwaitPhase(GridThread* seen, void* barrier, uint32_t parity);
  static void CopyBox(GridThread* seen, const void* map_bytes, uint32_t rank,
                      const int32_t* coordinates, void* to, void* barrier);

  // Pauses thread `number` until all threads of its warp that the mask selects
  // have arrived here.
  void SynchronizeWarp(uint32_t number, uint32_t mask);

  // Returns the number of the first thread of the warp of thread `number`,
  // which must be a whole warp. `what` names the operation in the error
  // message.
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

  // Checks that the four warps of a warpgroup multiply by the same matrices in
  // shared memory. The first warp that reaches a product determines its
  // matrices.
  void CheckGroup(uint32_t number, const void* a, const void* b);
  SharedMatrix MatrixAt(const void* begin, uint64_t descriptor,
                        uint32_t is_transposed, DType type) const;

  // Begins to read a matrix for a product: each lane checks some of the
  // matrix's pieces of 16 bytes and holds them (SharedRaces::Hold) until the
  // product has been awaited.
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

  // Performs copies for which a thread waits. The end of a copy counts as a
  // store of the thread: if another thread reads the bytes without a later
  // barrier, it reads too early.
  static void AwaitCopies(GridThread* seen, uint32_t groups);

  // Counts the passes over the banks of shared memory for loads of matrices. A
  // row of 16 bytes takes four of the 32 banks, so eight rows take one pass if
  // they are in different groups of four banks.
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

  // Ends the grid with an error message about thread `number`. It switches away
  // from the kernel's stack and never returns.
  void Fail(uint32_t number, const std::string& what);

  static constexpr auto kLoadKind = static_cast<uint32_t>(AccessKind::kLoad);
  static constexpr auto kStoreKind = static_cast<uint32_t>(AccessKind::kStore);
  static constexpr GridFunctions kFunctions = {
      Barrier,        Shuffle,        Multiply,      MultiplyWide,
      MultiplyShared, CommitProducts, AwaitProducts, LoadMatrices,
      CopyAsync,      CommitCopies,   AwaitCopies,   Access,
      OrderStores,    PowerOfTwo,     Synchronize,   MakeCopyBarrier,
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
  // For each warpgroup, by its number: the addresses of both factors of each
  // product that it has made, in order. A warp that reaches a product later
  // must use the same addresses.
  std::map<uint32_t, std::vector<WideFactors>> wide_products_;
  std::deque<Fiber>& fibers_ = FibersOfThread();
  std::array<uint32_t, 3> block_ = {};
  // The range of device memory of the last access; the next access is looked up
  // here first.
  MemoryRange last_;
  std::string problem_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_EMULATOR_H_

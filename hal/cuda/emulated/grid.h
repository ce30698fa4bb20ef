// An emulated grid: a kernel that was compiled for this process, run for each
// thread of each block as a GPU would, with its accesses of memory checked.
//
//   GridLaunch launch = {.kernel = entry, .blocks = {4, 1, 1},
//                        .threads = {128, 1, 1}, .arguments = arguments};
//   std::string problem = RunGrid(launch, memory);   // "" if all went well
//
// A kernel is a function of this process (GridKernel) that asks its GridThread
// who it is, and calls the functions there where code for a GPU has an
// instruction: at a barrier, to shuffle, to multiply matrices, and before each
// access of memory.
//
// What is found, and ends the grid: an access outside of memory that the device
// has; two threads of a block that access a byte of its shared memory, one of
// them writing, without a barrier between (a race), or one that writes what a
// product of warpgroups still reads, or reads what a copy of a box still
// writes; such a product that may read what was there before a store, for want
// of a fence between; threads that wait at a barrier that others never reach,
// or for copies that never begin; warps of a group that multiply by different
// matrices.
//
// Blocks run one after another, threads of a block as fibers of the calling
// thread, in turns. The order is always the same. Thread-safe: each call has
// fibers of its own.
#ifndef EMBER_HAL_CUDA_EMULATED_GRID_H_
#define EMBER_HAL_CUDA_EMULATED_GRID_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ember::hal::cuda {

struct GridThread;

// How a thread of a warp chooses whose value it gets (PTX's shfl.sync).
enum class ShuffleMode : uint32_t { kIndex, kUp, kDown, kButterfly };

enum class AccessKind : uint32_t { kLoad, kStore, kAtomic };

// What code for a GPU has instructions for. Kernels find them by their place.
struct GridFunctions {
  // All threads of the block meet.
  void (*barrier)(GridThread* thread);
  // Threads of the warp that `mask` names meet, and each gets the value of one
  // of them: PTX's shfl.sync with its operands b and c.
  uint32_t (*shuffle)(GridThread* thread, uint32_t mode, uint32_t mask,
                      uint32_t value, uint32_t b, uint32_t c);
  // The threads of a whole warp meet and multiply matrices, of which each has
  // some elements: PTX's mma.sync. product: a WarpProduct, packed; operands:
  // the thread's registers of a, b and the sum; result: its registers of the
  // new sum (warp_matrices.h).
  void (*multiply)(GridThread* thread, uint32_t product,
                   const uint32_t* operands, uint32_t* result);
  // The threads of a whole warp meet and multiply their 16 rows by a matrix of
  // `columns` columns in shared memory: a warp's part of PTX's wgmma.mma_async
  // with a in registers. is_transposed: its imm-trans-b. descriptor: of b, but
  // the address is `b`. sums: the thread's registers of the sums, which are
  // added to. It is done at once, but until the warp waits for its group nobody
  // may store to what it reads: a GPU may read as late as that.
  void (*multiply_wide)(GridThread* thread, uint32_t product, uint32_t columns,
                        uint32_t is_transposed, uint64_t descriptor,
                        const uint32_t* a, const void* b, uint32_t* sums);
  // The same with a in shared memory, too: the 64 rows of the four warps.
  void (*multiply_shared)(GridThread* thread, uint32_t product,
                          uint32_t columns, uint32_t is_a_transposed,
                          uint64_t a_descriptor, const void* a,
                          uint32_t is_transposed, uint64_t descriptor,
                          const void* b, uint32_t* sums);
  // The warp's products since the last call are a group (wgmma.commit_group).
  void (*commit_products)(GridThread* thread);
  // Waits for all but the last `groups` groups (wgmma.wait_group).
  void (*await_products)(GridThread* thread, uint32_t groups);
  // The threads of a whole warp meet and load `count` matrices from shared
  // memory: PTX's ldmatrix. row: 16 bytes; result: `count` registers.
  void (*load_matrices)(GridThread* thread, uint32_t count,
                        uint32_t is_transposed, const void* row,
                        uint32_t* result);
  // Begins a copy of `bytes` (4, 8 or 16) to shared memory, the first `read` of
  // them from `from`, zeros behind those: PTX's cp.async. It is done when the
  // thread waits for its group, as late as a GPU may.
  void (*copy_async)(GridThread* thread, uint32_t bytes, void* to,
                     const void* from, uint32_t read);
  // The thread's copies since the last call are a group
  // (cp.async.commit_group).
  void (*commit_copies)(GridThread* thread);
  // Does all copies of the thread but those of its last `groups` groups
  // (cp.async.wait_group).
  void (*await_copies)(GridThread* thread, uint32_t groups);
  // Before each access; does not return if that is wrong.
  void (*access)(GridThread* thread, const void* address, uint64_t bytes,
                 uint32_t kind);
  // fence.proxy.async: products of warpgroups behind the next barrier read what
  // the thread stored to shared memory before.
  void (*order_stores)(GridThread* thread);
  // ex2.approx.ftz: 2^x. Half of the results are moved by one unit in the last
  // place, so that no kernel relies on exact ones: the instruction's may be off
  // by two.
  float (*power_of_two)(GridThread* thread, float x);
  // `threads` threads of the block, whole warps, meet at barrier 1 to 15: PTX's
  // bar.sync with two operands.
  void (*meet)(GridThread* thread, uint32_t barrier, uint32_t threads);
  // The 8 bytes are a copy barrier of so many arrivals: mbarrier.init. What
  // else there is of them: copy_barriers.h.
  void (*make_copy_barrier)(GridThread* thread, void* barrier,
                            uint32_t arrivals);
  // mbarrier.arrive, which expects `bytes` of copies, too, where that is not 0.
  void (*arrive)(GridThread* thread, void* barrier, uint32_t bytes);
  // Waits for the phase of the parity: mbarrier.try_wait.parity, in a loop.
  void (*await_phase)(GridThread* thread, void* barrier, uint32_t parity);
  // Begins to copy a box of a tensor to shared memory: cp.async.bulk.tensor of
  // `rank` coordinates, innermost first. map: 128 bytes.
  void (*copy_box)(GridThread* thread, const void* map, uint32_t rank,
                   const int32_t* coordinates, void* to, void* barrier);
};

// A thread, as kernels see it: code knows where each field is.
struct GridThread {
  std::array<uint32_t, 3> thread = {};  // threadIdx
  std::array<uint32_t, 3> threads = {1, 1, 1};
  std::array<uint32_t, 3> block = {};
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  uint8_t* shared = nullptr;  // of the block; aligned to 1024
  const GridFunctions* functions = nullptr;
  void* runner = nullptr;  // of RunGrid
};

inline constexpr uint32_t kWarpThreads = 32;

// arguments: a pointer to each argument, as for cuLaunchKernel.
using GridKernel = void (*)(GridThread* thread, void* const* arguments);

// A kernel of an image.
struct GridEntry {
  std::string name;
  GridKernel function = nullptr;
  size_t argument_count = 0;  // of 8 bytes each
  uint64_t shared_bytes = 0;  // that the code itself declares
  // Threads meet: each needs a stack of its own.
  bool meets = false;
  // Arguments behind those, of 128 bytes each (tensor_map.h).
  size_t map_count = 0;
};

// Kernels of this process as bytes that the emulated driver loads as a module:
// format "emulated-grid". The code must outlive executables of it.
std::vector<uint8_t> WriteGridImage(std::span<const GridEntry> entries);
// Empty if the bytes are none.
std::vector<GridEntry> ReadGridImage(const void* image);

struct GridLaunch {
  GridEntry kernel;
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  uint64_t shared_bytes = 0;  // dynamic, behind those of the kernel
  void* const* arguments = nullptr;
};

// Which memory the device has: the bytes [begin, end) around an address.
struct MemoryRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
using FindMemory = std::function<MemoryRange(uintptr_t address)>;

// What warps did with shared memory by load_matrices: each matrix of eight rows
// of 16 bytes takes one pass over the 32 banks if its rows are in different
// ones, and up to eight otherwise.
struct GridStatistics {
  uint64_t products = 0;       // multiply, by warp
  uint64_t matrix_loads = 0;   // matrices
  uint64_t matrix_passes = 0;  // over the banks, for them
  uint64_t async_copies = 0;   // by thread
  uint64_t box_copies = 0;
};

// What went wrong, as a line, or nothing. statistics, which may be null, get
// what the grid did added.
std::string RunGrid(const GridLaunch& launch, const FindMemory& memory,
                    GridStatistics* statistics = nullptr);

// What all grids of this process did so far. Thread-safe.
GridStatistics TotalStatistics();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_H_

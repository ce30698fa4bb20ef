// An emulated grid: a kernel that was compiled for this process, run for each
// thread of each block like on a GPU, with checks of its memory accesses.
//
//   GridLaunch launch = {.kernel = entry, .blocks = {4, 1, 1},
//                        .threads = {128, 1, 1}, .arguments = arguments};
//   std::string problem = RunGrid(launch, memory);   // "" if all went well
//
// A kernel is a function of this process (GridKernel). It gets its thread
// number from its GridThread, and calls functions there where code for a GPU
// has an instruction: at a barrier, for a shuffle or a matrix product, and
// before each memory access.
//
// The grid stops at these errors: an access outside of the device's memory; two
// threads of a block that access a byte of its shared memory, one of them
// writing, without a barrier in between (a race); a write to bytes that a
// product of warpgroups still reads, or a read of bytes that a copy of a box
// still writes; such a product that may read the contents from before a store,
// because a fence is missing; threads that wait at a barrier that others never
// reach, or for copies that never begin; warps of a group that multiply by
// different matrices.
//
// Blocks run one after another, threads of a block as fibers of the calling
// thread, always in the same order. Thread-safe: each call has its own fibers.
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

// The way in which a thread of a warp selects the lane whose value it gets
// (PTX's shfl.sync).
enum class ShuffleMode : uint32_t { kIndex, kUp, kDown, kButterfly };

enum class AccessKind : uint32_t { kLoad, kStore, kAtomic };

// The functions that replace a GPU's instructions. Kernels find them by their
// offset.
struct GridFunctions {
  // Synchronises all threads of the block.
  void (*barrier)(GridThread* thread);
  // Synchronises the threads of the warp that `mask` names. Each gets the value
  // of one of them: PTX's shfl.sync with its operands b and c.
  uint32_t (*shuffle)(GridThread* thread, uint32_t mode, uint32_t mask,
                      uint32_t value, uint32_t b, uint32_t c);
  // Synchronises a whole warp and multiplies matrices whose elements are
  // distributed over the threads: PTX's mma.sync. `product` is a packed
  // WarpProduct; `operands` are the thread's registers of a, b and the sum;
  // `result` are its registers of the new sum (warp_matrices.h).
  void (*multiply)(GridThread* thread, uint32_t product,
                   const uint32_t* operands, uint32_t* result);
  // Synchronises a whole warp and multiplies its 16 rows by a matrix of
  // `columns` columns in shared memory: a warp's part of PTX's wgmma.mma_async
  // with a in registers. `is_transposed` is its imm-trans-b. `descriptor`
  // describes b, but the address is `b`. `sums` are the thread's registers of
  // the sums, which are added to. The product is computed at once. Until the
  // warp waits for its group no thread may store to its operands, because a GPU
  // may read them as late as that.
  void (*multiply_wide)(GridThread* thread, uint32_t product, uint32_t columns,
                        uint32_t is_transposed, uint64_t descriptor,
                        const uint32_t* a, const void* b, uint32_t* sums);
  // Multiplies as multiply_wide does, with a in shared memory, too: the 64 rows
  // of the four warps.
  void (*multiply_shared)(GridThread* thread, uint32_t product,
                          uint32_t columns, uint32_t is_a_transposed,
                          uint64_t a_descriptor, const void* a,
                          uint32_t is_transposed, uint64_t descriptor,
                          const void* b, uint32_t* sums);
  // Makes a group of the warp's products since the last call
  // (wgmma.commit_group).
  void (*commit_products)(GridThread* thread);
  // Waits for all groups of products but the last `groups` (wgmma.wait_group).
  void (*await_products)(GridThread* thread, uint32_t groups);
  // Synchronises a whole warp and loads `count` matrices from shared memory:
  // PTX's ldmatrix. `row` points to 16 bytes; `result` has `count` registers.
  void (*load_matrices)(GridThread* thread, uint32_t count,
                        uint32_t is_transposed, const void* row,
                        uint32_t* result);
  // Begins a copy of `bytes` (4, 8 or 16) to shared memory: the first `read`
  // bytes come from `from`, the rest are zeros (PTX's cp.async). It is
  // performed when the thread waits for its group, as late as on a GPU.
  void (*copy_async)(GridThread* thread, uint32_t bytes, void* to,
                     const void* from, uint32_t read);
  // Makes a group of the thread's copies since the last call
  // (cp.async.commit_group).
  void (*commit_copies)(GridThread* thread);
  // Performs all copies of the thread except those of its last `groups` groups
  // (cp.async.wait_group).
  void (*await_copies)(GridThread* thread, uint32_t groups);
  // Called before each access; does not return if the access is wrong.
  void (*access)(GridThread* thread, const void* address, uint64_t bytes,
                 uint32_t kind);
  // Orders the thread's stores (fence.proxy.async): after the next barrier,
  // products of warpgroups read the thread's earlier stores to shared memory.
  void (*order_stores)(GridThread* thread);
  // Returns 2^x (ex2.approx.ftz). Half of the results are moved by one unit in
  // the last place, so that no kernel relies on exact ones: the instruction may
  // be off by two.
  float (*power_of_two)(GridThread* thread, float x);
  // Synchronises `threads` threads of the block, whole warps, at barrier 1 to
  // 15: PTX's bar.sync with two operands.
  void (*meet)(GridThread* thread, uint32_t barrier, uint32_t threads);
  // Makes the 8 bytes a copy barrier with that number of arrivals:
  // mbarrier.init. copy_barriers.h describes these barriers.
  void (*make_copy_barrier)(GridThread* thread, void* barrier,
                            uint32_t arrivals);
  // Arrives at a copy barrier (mbarrier.arrive). If `bytes` is not 0, the
  // barrier's phase also expects that many bytes of copies.
  void (*arrive)(GridThread* thread, void* barrier, uint32_t bytes);
  // Waits for the phase of the parity: mbarrier.try_wait.parity, in a loop.
  void (*await_phase)(GridThread* thread, void* barrier, uint32_t parity);
  // Begins to copy a box of a tensor to shared memory: cp.async.bulk.tensor
  // with `rank` coordinates, innermost first. `map` points to 128 bytes.
  void (*copy_box)(GridThread* thread, const void* map, uint32_t rank,
                   const int32_t* coordinates, void* to, void* barrier);
};

// A thread, as kernels see it; generated code knows the offset of each field.
struct GridThread {
  // number of the thread in its block (threadIdx)
  std::array<uint32_t, 3> thread = {};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  std::array<uint32_t, 3> block = {};
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  // shared memory of the block, aligned to 1024 bytes
  uint8_t* shared = nullptr;
  const GridFunctions* functions = nullptr;
  void* runner = nullptr;  // object of RunGrid that runs this thread
};

inline constexpr uint32_t kWarpThreads = 32;

// A kernel. `arguments` has a pointer to each argument, as for cuLaunchKernel.
using GridKernel = void (*)(GridThread* thread, void* const* arguments);

// A kernel of an image.
struct GridEntry {
  std::string name;
  GridKernel function = nullptr;
  size_t argument_count = 0;  // number of arguments, of 8 bytes each
  // bytes of shared memory that the code itself declares
  uint64_t shared_bytes = 0;
  // True if threads synchronise, so that each needs its own stack.
  bool meets = false;
  // Number of further arguments of 128 bytes each (tensor_map.h).
  size_t map_count = 0;
};

// Writes kernels of this process as bytes that the emulated driver loads as a
// module of format "emulated-grid". The code must outlive executables of it.
std::vector<uint8_t> WriteGridImage(std::span<const GridEntry> entries);
// Reads the kernels of an image. Returns none if the bytes are no such image.
std::vector<GridEntry> ReadGridImage(const void* image);

struct GridLaunch {
  GridEntry kernel;
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  // bytes of dynamic shared memory, after that of the kernel
  uint64_t shared_bytes = 0;
  void* const* arguments = nullptr;
};

// A range of the device's memory: the bytes [begin, end) around an address.
struct MemoryRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
using FindMemory = std::function<MemoryRange(uintptr_t address)>;

// Counts matrix operations of warps. Loading a matrix of eight rows of 16 bytes
// takes one pass over the 32 banks if its rows are in different banks, and up
// to eight otherwise.
struct GridStatistics {
  // calls of GridFunctions::multiply, counted once per warp
  uint64_t products = 0;
  uint64_t matrix_loads = 0;   // matrices that were loaded from shared memory
  uint64_t matrix_passes = 0;  // passes over the banks that these loads took
  uint64_t async_copies = 0;   // asynchronous copies, counted per thread
  uint64_t box_copies = 0;
};

// Runs a grid. Returns an error as a line, or an empty text. The grid's counts
// are added to `statistics`, which may be null.
std::string RunGrid(const GridLaunch& launch, const FindMemory& memory,
                    GridStatistics* statistics = nullptr);

// Returns the counts of all grids of this process so far. Thread-safe.
GridStatistics TotalStatistics();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_H_

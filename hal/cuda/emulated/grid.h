// Emulates a GPU's grid: runs a kernel that was compiled for this process once
// for each thread of each block, as a GPU does, and checks its memory accesses.
//
//   GridLaunch launch = {.kernel = entry, .blocks = {4, 1, 1},
//                        .threads = {128, 1, 1}, .arguments = arguments};
//   std::string problem = RunGrid(launch, memory);   // "" if all went well
//
// A kernel is a function of this process (GridKernel). It reads its thread
// number from its GridThread. Where code for a GPU has a special instruction,
// it calls a function of GridThread::functions: at a barrier, for a shuffle or
// a matrix product, and before each memory access.
//
// The grid stops at these errors: an access outside of the device's memory; two
// threads of a block that access a byte of its shared memory, one of them
// writing, without a barrier in between (a race); a write to bytes that a
// product of warpgroups still reads, or a read of bytes that a copy of a box
// still writes; a product of warpgroups that may read the contents from before
// a store, because a fence is missing; threads that wait at a barrier that
// other threads never reach, or that wait for copies that never begin; warps of
// a group that multiply by different matrices.
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

// The functions that kernels call in place of a GPU's special instructions.
// Generated code contains the offsets of these fields, so their order is fixed.
struct GridFunctions {
  // Synchronises all threads of the block.
  void (*barrier)(GridThread* thread);
  // Exchanges values among the threads of the warp that `mask` selects, after
  // synchronising them: each thread gets the value of one of these threads. It
  // is PTX's shfl.sync with its operands b and c.
  uint32_t (*shuffle)(GridThread* thread, uint32_t mode, uint32_t mask,
                      uint32_t value, uint32_t b, uint32_t c);
  // Synchronises a whole warp and multiplies matrices whose elements are
  // distributed over the threads: this is PTX's mma.sync. `product` is a packed
  // WarpProduct; `operands` are the thread's registers of a, b and the sum;
  // `result` are its registers of the new sum (warp_matrices.h).
  void (*multiply)(GridThread* thread, uint32_t product,
                   const uint32_t* operands, uint32_t* result);
  // Synchronises a whole warp and multiplies its 16 rows by a matrix of
  // `columns` columns in shared memory: a warp's part of PTX's wgmma.mma_async
  // with the matrix a in registers. `is_transposed` is the operand imm-trans-b.
  // `descriptor` is the matrix descriptor of b, except that the address is the
  // argument `b`. The product is added to `sums`, the thread's registers of the
  // sums. The product is computed at once, but no thread may store to the
  // operands in shared memory until the warp has waited for the product's
  // group, because a GPU may read them until then.
  void (*multiply_wide)(GridThread* thread, uint32_t product, uint32_t columns,
                        uint32_t is_transposed, uint64_t descriptor,
                        const uint32_t* a, const void* b, uint32_t* sums);
  // Multiplies as multiply_wide does, but a is in shared memory, too: it has
  // the 64 rows of the warpgroup's four warps.
  void (*multiply_shared)(GridThread* thread, uint32_t product,
                          uint32_t columns, uint32_t is_a_transposed,
                          uint64_t a_descriptor, const void* a,
                          uint32_t is_transposed, uint64_t descriptor,
                          const void* b, uint32_t* sums);
  // Puts the warp's products since the last call of this function into a group
  // (wgmma.commit_group).
  void (*commit_products)(GridThread* thread);
  // Waits until at most the last `groups` groups of the warp's products are
  // still running (wgmma.wait_group).
  void (*await_products)(GridThread* thread, uint32_t groups);
  // Synchronises a whole warp and loads `count` matrices from shared memory;
  // this is PTX's ldmatrix. `row` points to a row of 16 bytes, one per thread;
  // the thread's `count` registers are written to `result`.
  void (*load_matrices)(GridThread* thread, uint32_t count,
                        uint32_t is_transposed, const void* row,
                        uint32_t* result);
  // Begins a copy of `bytes` (4, 8 or 16) to shared memory: the first `read`
  // bytes come from `from`, the rest are zeros (PTX's cp.async). The copy is
  // performed when the thread waits for the copy's group, which is the latest
  // time at which a GPU may perform it.
  void (*copy_async)(GridThread* thread, uint32_t bytes, void* to,
                     const void* from, uint32_t read);
  // Puts the thread's copies since the last call of this function into a group
  // (cp.async.commit_group).
  void (*commit_copies)(GridThread* thread);
  // Performs the copies of all groups of the thread except the last `groups`
  // ones (cp.async.wait_group).
  void (*await_copies)(GridThread* thread, uint32_t groups);
  // Checks a memory access; kernels call it before each one. It does not return
  // if the access is wrong.
  void (*access)(GridThread* thread, const void* address, uint64_t bytes,
                 uint32_t kind);
  // Orders the thread's stores (fence.proxy.async): after the next barrier,
  // products of warpgroups read the thread's earlier stores to shared memory.
  void (*order_stores)(GridThread* thread);
  // Returns 2^x (ex2.approx.ftz). Half of the results are deliberately wrong by
  // one unit in the last place, so that no kernel relies on exact results: the
  // real instruction may be off by two.
  float (*power_of_two)(GridThread* thread, float x);
  // Synchronises `threads` threads of the block, which are whole warps, at the
  // barrier with the number `barrier` (1 to 15). It is PTX's bar.sync with two
  // operands.
  void (*synchronize)(GridThread* thread, uint32_t barrier, uint32_t threads);
  // Makes a copy barrier of the 8 bytes at `barrier`, whose phases need
  // `arrivals` arrivals. It is PTX's mbarrier.init; copy_barriers.h describes
  // these barriers.
  void (*make_copy_barrier)(GridThread* thread, void* barrier,
                            uint32_t arrivals);
  // Arrives at a copy barrier (mbarrier.arrive). If `bytes` is not 0, the
  // barrier's phase also expects that many bytes of copies.
  void (*arrive)(GridThread* thread, void* barrier, uint32_t bytes);
  // Waits until the copy barrier's phase with this parity is over. It is PTX's
  // mbarrier.try_wait.parity in a loop.
  void (*await_phase)(GridThread* thread, void* barrier, uint32_t parity);
  // Begins to copy a box of a tensor to shared memory. It is PTX's
  // cp.async.bulk.tensor with `rank` coordinates, innermost first. `map` points
  // to the 128 bytes of a tensor map.
  void (*copy_box)(GridThread* thread, const void* map, uint32_t rank,
                   const int32_t* coordinates, void* to, void* barrier);
};

// The part of a thread's state that kernels access. Generated code knows the
// offset of each field.
struct GridThread {
  // Number of the thread in its block (threadIdx).
  std::array<uint32_t, 3> thread = {};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  std::array<uint32_t, 3> block = {};
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  // Shared memory of the block, aligned to 1024 bytes.
  uint8_t* shared = nullptr;
  const GridFunctions* functions = nullptr;
  // The GridEmulator that runs this thread.
  void* emulator = nullptr;
};

inline constexpr uint32_t kWarpThreads = 32;

// The type of a kernel's function. `arguments` points to the address of each
// argument, as the parameter of cuLaunchKernel does.
using GridKernel = void (*)(GridThread* thread, void* const* arguments);

// Describes one kernel in an image, that is, in the bytes that WriteGridImage
// makes.
struct GridEntry {
  std::string name;
  GridKernel function = nullptr;
  size_t argument_count = 0;  // number of the kernel's arguments, each of which
                              // has 8 bytes
  // number of bytes of shared memory that the kernel's code declares
  uint64_t shared_bytes = 0;
  // True if the kernel's threads synchronise. Each thread then needs a stack of
  // its own.
  bool has_barriers = false;
  // Number of tensor maps, which are further arguments of 128 bytes each
  // (tensor_map.h).
  size_t map_count = 0;
};

// Encodes kernels of this process as bytes that the emulated driver loads as a
// module of the format "emulated-grid". The kernels' code must stay loaded as
// long as there are executables made from the bytes.
std::vector<uint8_t> WriteGridImage(std::span<const GridEntry> entries);
// Decodes the kernels of an image. Returns an empty list if the bytes are no
// image that WriteGridImage made.
std::vector<GridEntry> ReadGridImage(const void* image);

struct GridLaunch {
  GridEntry kernel;
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  // Number of bytes of dynamic shared memory, which follow those that the
  // kernel declares.
  uint64_t shared_bytes = 0;
  void* const* arguments = nullptr;
};

// The range [begin, end) of an allocation that FindMemory returns for an
// address. If no allocation contains the address, neither does the range.
struct MemoryRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
using FindMemory = std::function<MemoryRange(uintptr_t address)>;

// Counts operations of a grid. When a matrix of eight rows of 16 bytes is
// loaded from shared memory with its 32 banks, the load takes one pass if the
// rows are in different banks, and up to eight passes otherwise.
struct GridStatistics {
  // Number of matrix products of warps and of warpgroups.
  uint64_t products = 0;
  // Number of matrices of eight rows that were loaded from shared memory.
  uint64_t matrix_loads = 0;
  // Number of passes over the banks of shared memory that these loads took.
  uint64_t matrix_passes = 0;
  uint64_t async_copies = 0;  // number of asynchronous copies, counted per
                              // thread
  uint64_t box_copies = 0;
};

// Runs a grid. Returns an error as a text of one line, or an empty text. The
// grid's counts are added to `statistics`, if that is not null.
std::string RunGrid(const GridLaunch& launch, const FindMemory& memory,
                    GridStatistics* statistics = nullptr);

// Returns the sums of the counts of all grids that this process has run.
// Thread-safe.
GridStatistics TotalStatistics();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_GRID_H_

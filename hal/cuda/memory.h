// Allocates memory of a CUDA device, and pinned host memory that the device can
// access.
//
//   EMBER_ASSIGN_OR_RETURN(const MemoryPiece piece,
//                          memory.Allocate(bytes, MemoryKind::kDeviceLocal));
//   …
//   memory.Free(piece);
//
// Device memory comes from one of CUDA's pools: allocating and freeing are
// ordered with the work on the stream. Freed memory may be allocated again
// while work that used it still runs, because work that is submitted later
// waits for that work. If a device has no pools, each piece is an allocation of
// its own. Pinned memory is slow to allocate, so small pieces share blocks.
//
// Errors: ResourceExhausted, with the requested bytes. Thread-safe.
#ifndef EMBER_HAL_CUDA_MEMORY_H_
#define EMBER_HAL_CUDA_MEMORY_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/cuda/context.h"

namespace ember::hal::cuda {

struct PinnedBlock;

struct MemoryPiece {
  CUdeviceptr address = 0;  // device address of the piece, a multiple of 64
  uint64_t bytes = 0;
  // Address at which the host accesses the piece. It is null unless the memory
  // is pinned.
  uint8_t* host = nullptr;
  PinnedBlock* block = nullptr;
};

class Memory {
 public:
  // Makes the memory of a context. `context` must outlive it.
  static StatusOr<std::unique_ptr<Memory>> Create(Context& context);
  // All pieces must have been freed before the memory is destroyed.
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates a piece. A piece of device memory has at least 1 byte; its
  // contents are arbitrary.
  StatusOr<MemoryPiece> Allocate(uint64_t bytes, MemoryKind kind);
  void Free(const MemoryPiece& piece);

 private:
  explicit Memory(Context& context);
  StatusOr<MemoryPiece> AllocateOnDevice(uint64_t bytes);
  StatusOr<MemoryPiece> AllocatePinned(uint64_t bytes);
  StatusOr<PinnedBlock*> AddBlock(uint64_t bytes);

  Context& context_;
  // Pool of the device's memory; null if the device has no pools.
  CUmemoryPool pool_ = nullptr;

  std::mutex mutex_;  // guards blocks_
  std::vector<std::unique_ptr<PinnedBlock>> blocks_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_MEMORY_H_

// A buffer of a CUDA device: a piece of device memory, or of pinned host
// memory, which the device can access too.
#ifndef EMBER_HAL_CUDA_BUFFER_H_
#define EMBER_HAL_CUDA_BUFFER_H_

#include <cstdint>

#include "hal/buffer.h"
#include "hal/cuda/memory.h"
#include "hal/memory_counter.h"

namespace ember::hal::cuda {

class CudaBuffer final : public Buffer {
 public:
  // Makes a buffer that owns `piece` and the bytes that were counted for it.
  // `memory` and `counter` must outlive the buffer.
  CudaBuffer(int64_t size, const MemoryPiece& piece, Memory& memory,
             MemoryCounter& counter)
      : Buffer(size, piece.host),
        piece_(piece),
        memory_(memory),
        counter_(counter) {}
  ~CudaBuffer() override {
    memory_.Free(piece_);
    counter_.Give(size(), /*is_hidden=*/host_data() == nullptr);
  }

  CUdeviceptr address() const { return piece_.address; }

 private:
  const MemoryPiece piece_;
  Memory& memory_;
  MemoryCounter& counter_;
};

// Returns the device address at which the range of a buffer begins.
inline CUdeviceptr AddressOf(const BufferRange& range) {
  return static_cast<const CudaBuffer*>(range.buffer)->address() +
         static_cast<CUdeviceptr>(range.offset);
}

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_BUFFER_H_

// A buffer of a Metal device. Its memory is shared with the host, or private to
// the device.
//
//   EMBER_ASSIGN_OR_RETURN(auto buffer,
//                          MetalBuffer::Create(context, size, true));
//
// Ownership: the context outlives its buffers. Errors: ResourceExhausted, with
// the requested bytes. Thread-safety: as for plain memory.
#ifndef EMBER_HAL_METAL_BUFFER_H_
#define EMBER_HAL_METAL_BUFFER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/memory_counter.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/api/owned.h"
#include "hal/metal/context.h"

namespace ember::hal::metal {

class MetalBuffer final : public Buffer {
 public:
  // Makes a zeroed buffer that is not yet counted in the memory's limit.
  // shows_host: true if the host must be able to access it.
  static StatusOr<std::unique_ptr<MetalBuffer>> Create(const Context& context,
                                                       int64_t size,
                                                       bool shows_host);
  ~MetalBuffer() override;

  // From now on the counter includes the buffer's bytes; the destructor gives
  // them back.
  void CountIn(MemoryCounter& counter) { counter_ = &counter; }

  BufferRef handle() const { return handle_.get(); }

 private:
  MetalBuffer(int64_t size, void* host, Owned<BufferRef> handle)
      : Buffer(size, host), handle_(std::move(handle)) {}

  const Owned<BufferRef> handle_;
  MemoryCounter* counter_ = nullptr;
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_BUFFER_H_

// A buffer of an OpenCL device, in one of three kinds of memory:
//   - a memory object (cl_mem) that the host cannot access;
//   - shared virtual memory, which host and device access at one address, if
//     the device has fine-grained buffers of it;
//   - else, memory of the host that a memory object names (pinned memory). The
//     object is mapped for the host except while a submission uses it, which
//     unmaps it at its begin and maps it again at its end.
//
//   EMBER_ASSIGN_OR_RETURN(auto buffer,
//                          OpenClBuffer::Create(context, size, kind));
//   context.Submit([&] { … Lend(), commands, TakeBack() … });
//
// Ownership: the context outlives its buffers. Errors: ResourceExhausted, with
// the requested bytes. Thread-safety: as for plain memory.
#ifndef EMBER_HAL_OPENCL_BUFFER_H_
#define EMBER_HAL_OPENCL_BUFFER_H_

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/memory_counter.h"
#include "hal/opencl/context.h"

namespace ember::hal::opencl {

class OpenClBuffer final : public Buffer {
 public:
  // Makes a zeroed buffer that is not yet counted in the memory's limit.
  // `shows_host` is true if the host must be able to access the buffer.
  static StatusOr<std::unique_ptr<OpenClBuffer>> Create(Context& context,
                                                        int64_t size,
                                                        bool shows_host);
  ~OpenClBuffer() override;

  // Counts the buffer's bytes in the counter, which must outlive the buffer.
  // The destructor subtracts them again.
  void CountIn(MemoryCounter& counter) { counter_ = &counter; }

  // Returns the memory object; null if the buffer is shared virtual memory at
  // host_data().
  cl_mem handle() const { return memory_.handle; }
  bool has_shared_address() const { return memory_.handle == nullptr; }
  // True if the buffer is pinned memory: each submission that uses it must call
  // Lend before its commands and TakeBack after them.
  bool is_pinned() const {
    return memory_.handle != nullptr && memory_.host != nullptr;
  }

  // Lend enqueues the command that unmaps pinned memory, so that the device may
  // use it; TakeBack maps it for the host again. If an earlier TakeBack failed,
  // the device still has the memory, and Lend does nothing.
  Status Lend();
  Status TakeBack();

 private:
  struct Memory {
    cl_mem handle = nullptr;
    // Address at which the host accesses the memory; null if it cannot.
    void* host = nullptr;
    // True if pinned memory is mapped, so that the host may access it.
    bool is_mapped = false;
  };

  OpenClBuffer(Context& context, int64_t size, Memory memory)
      : Buffer(size, memory.host), context_(context), memory_(memory) {}
  static StatusOr<Memory> AllocateHidden(Context& context, size_t bytes);
  static StatusOr<Memory> AllocateShared(Context& context, size_t bytes);
  static StatusOr<Memory> AllocatePinned(Context& context, size_t bytes);
  Status Map(cl_bool waits);

  Context& context_;
  Memory memory_;
  MemoryCounter* counter_ = nullptr;
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_BUFFER_H_

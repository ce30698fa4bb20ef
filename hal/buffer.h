// Memory of a device. Each driver makes it in its own way; host code accesses
// it through host_data() if the memory is visible to the host.
//
// Ownership: freed when destroyed; no running command list may use it then.
// Thread-safety: as for plain memory.
#ifndef EMBER_HAL_BUFFER_H_
#define EMBER_HAL_BUFFER_H_

#include <cstdint>

namespace ember::hal {

// The kind of memory that a caller requests. A driver may return memory with
// more capabilities, never with fewer.
enum class MemoryKind : uint8_t {
  kHostVisible,  // Memory that the host can access: host_data() is not null.
  // Memory that is fastest for the device. The host accesses its contents by
  // copies to or from host-visible memory.
  kDeviceLocal,
};

class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Returns the size in bytes, which is never negative.
  int64_t size() const { return size_; }
  // Returns the address of the memory for the host, 64-byte aligned. Returns
  // null if the host cannot access the memory.
  void* host_data() const { return host_data_; }

 protected:
  Buffer(int64_t size, void* host_data) : size_(size), host_data_(host_data) {}

 private:
  int64_t size_;
  void* host_data_;
};

// A range of bytes of a buffer, which a command reads or writes.
struct BufferRange {
  Buffer* buffer = nullptr;
  int64_t offset = 0;
  int64_t length = 0;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_BUFFER_H_

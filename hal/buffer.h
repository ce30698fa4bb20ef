// Memory of a device. Each driver makes it in its own way; host code reaches it
// through host_data() if the memory is visible to the host.
//
// Ownership: freed when destroyed; no running command list may use it then.
// Thread-safety: as for plain memory.
#ifndef EMBER_HAL_BUFFER_H_
#define EMBER_HAL_BUFFER_H_

#include <cstdint>

namespace ember::hal {

// The kind of memory that a caller asks for. A driver may give a better kind,
// never a worse one.
enum class MemoryKind : uint8_t {
  kHostVisible,  // memory that the host sees: host_data() is not null
  // memory that is fastest for the device; the host reaches it by copies
  kDeviceLocal,
};

class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Returns the size in bytes, which is never negative.
  int64_t size() const { return size_; }
  // Returns the address of the memory for the host, 64-byte aligned. Null if
  // the host cannot see the memory.
  void* host_data() const { return host_data_; }

 protected:
  Buffer(int64_t size, void* host_data) : size_(size), host_data_(host_data) {}

 private:
  int64_t size_;
  void* host_data_;
};

// A part of a buffer, as commands name it.
struct BufferRange {
  Buffer* buffer = nullptr;
  int64_t offset = 0;
  int64_t length = 0;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_BUFFER_H_

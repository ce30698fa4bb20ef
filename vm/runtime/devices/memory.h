// Memory of a session on a device that is not the host. If the device shares
// memory with the host, it is one buffer. Otherwise it is a buffer in the
// device's memory and a mirror, a host-visible buffer in which data has the
// same offsets.
//
//   EMBER_ASSIGN_OR_RETURN(auto memory, DeviceMemory::Make(*device, 4096));
//   memory->RangeOf(offset, 64);        // for kernels
//   memory->MirrorOf(offset, 64);       // for copies from and to the host
//
// host_data() returns the address of the mirror. Thread-safety: the same as for
// plain memory.
#ifndef EMBER_VM_RUNTIME_DEVICES_MEMORY_H_
#define EMBER_VM_RUNTIME_DEVICES_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"
#include "hal/device.h"

namespace ember::vm {

class DeviceMemory final : public hal::Buffer {
 public:
  // Allocates memory of a device. when_freed() is called before the memory is
  // freed.
  static StatusOr<std::unique_ptr<DeviceMemory>> Make(
      hal::Device& device, int64_t bytes, std::function<void()> when_freed);
  ~DeviceMemory() override { when_freed_(); }

  bool is_shared() const { return local_ == nullptr; }
  hal::BufferRange RangeOf(int64_t offset, int64_t length) const {
    return {is_shared() ? mirror_.get() : local_.get(), offset, length};
  }
  hal::BufferRange MirrorOf(int64_t offset, int64_t length) const {
    return {mirror_.get(), offset, length};
  }
  // True if only the host writes the memory, so that the mirror is always
  // valid.
  bool is_input() const { return is_input_; }
  void set_is_input(bool value) { is_input_ = value; }

 private:
  DeviceMemory(std::unique_ptr<hal::Buffer> mirror,
               std::unique_ptr<hal::Buffer> local,
               std::function<void()> when_freed)
      : Buffer(mirror->size(), mirror->host_data()),
        mirror_(std::move(mirror)),
        local_(std::move(local)),
        when_freed_(std::move(when_freed)) {}

  const std::unique_ptr<hal::Buffer> mirror_;
  // Buffer in the device's own memory. It is null if the device shares memory
  // with the host.
  const std::unique_ptr<hal::Buffer> local_;
  const std::function<void()> when_freed_;
  bool is_input_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_MEMORY_H_

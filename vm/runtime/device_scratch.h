// Device memory that recorded calls need only while their commands run
// (docs/devices.md): calls that barriers keep apart get the same bytes.
//
//   DeviceScratch scratch(device);
//   EMBER_ASSIGN_OR_RETURN(const hal::BufferRange a, scratch.Take(4096));
//   EMBER_ASSIGN_OR_RETURN(const hal::BufferRange b, scratch.Take(4096));
//   scratch.Reuse();   // a barrier: what follows may have the memory of a and b
//
// Ranges are aligned as the device binds them, and stay valid as long as this
// does, or until Clear; before, memory only grows. Contents are unspecified.
// Not thread-safe.
#ifndef EMBER_VM_RUNTIME_DEVICE_SCRATCH_H_
#define EMBER_VM_RUNTIME_DEVICE_SCRATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::vm {

class DeviceScratch {
 public:
  explicit DeviceScratch(std::shared_ptr<hal::Device> device);

  // Of all that is taken from the device, from now on; none before it is set.
  void set_limit(int64_t bytes) { limit_ = bytes; }

  // Bytes that nothing else has which was taken since the last Reuse. Errors:
  // the limit; the device's, of allocating.
  StatusOr<hal::BufferRange> Take(int64_t bytes);
  void Reuse() { chunk_ = used_ = 0; }
  // Gives all back to the device: no range that was taken is valid any more.
  void Clear() {
    chunks_.clear();
    chunk_ = used_ = bytes_ = 0;
  }

  // Of the device's memory.
  int64_t device_bytes() const { return bytes_; }

 private:
  const std::shared_ptr<hal::Device> device_;
  const int64_t alignment_;
  std::vector<std::unique_ptr<hal::Buffer>> chunks_;
  int64_t chunk_ = 0;  // the one that is taken from
  int64_t used_ = 0;   // bytes of it
  int64_t bytes_ = 0;
  int64_t limit_ = INT64_MAX;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICE_SCRATCH_H_

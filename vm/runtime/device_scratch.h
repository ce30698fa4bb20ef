// Device memory for recorded calls, which need it only while their commands run
// (docs/devices.md). Calls that are separated by a barrier may get the same
// bytes.
//
//   DeviceScratch scratch(device);
//   EMBER_ASSIGN_OR_RETURN(const hal::BufferRange a, scratch.Take(4096));
//   EMBER_ASSIGN_OR_RETURN(const hal::BufferRange b, scratch.Take(4096));
//   scratch.Reuse();   // a barrier: later calls may have the memory of a and b
//
// Ranges are aligned as the device requires for bindings. They stay valid until
// Clear is called or this object is destroyed; until then memory is only added.
// Contents are unspecified. Not thread-safe.
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

  // Sets the largest number of bytes of device memory. It applies to all later
  // calls of Take. Before the first call of this function there is no limit.
  void set_limit(int64_t bytes) { limit_ = bytes; }

  // Returns memory that no other call of Take has returned since the last
  // Reuse. Errors: ResourceExhausted at the limit; errors of the device's
  // allocation.
  StatusOr<hal::BufferRange> Take(int64_t bytes);
  void Reuse() { chunk_ = used_ = 0; }
  // Frees all memory: ranges that were taken are invalid afterwards.
  void Clear() {
    chunks_.clear();
    chunk_ = used_ = bytes_ = 0;
  }

  // Returns the number of bytes of device memory that this object has
  // allocated.
  int64_t device_bytes() const { return bytes_; }

 private:
  const std::shared_ptr<hal::Device> device_;
  const int64_t alignment_;
  std::vector<std::unique_ptr<hal::Buffer>> chunks_;
  int64_t chunk_ = 0;  // index in chunks_ of the buffer from which Take takes
                       // memory
  int64_t used_ = 0;   // number of bytes of the buffer chunks_[chunk_] that are
                       // taken
  int64_t bytes_ = 0;
  int64_t limit_ = INT64_MAX;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICE_SCRATCH_H_

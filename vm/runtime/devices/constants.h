// Copies of a module's constants in a device's memory. Each constant is copied
// when it is first requested. All sessions of a module on a device share the
// copies.
//
//   auto constants = DeviceConstants::Of(device, module);
//   EMBER_ASSIGN_OR_RETURN(hal::BufferRange range,
//                          constants->Find(address, bytes));
//
// Thread-safe. Errors: those of allocating and copying.
#ifndef EMBER_VM_RUNTIME_DEVICES_CONSTANTS_H_
#define EMBER_VM_RUNTIME_DEVICES_CONSTANTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/module.h"

namespace ember::vm {

class DeviceConstants {
 public:
  // Returns the constants of the module on the device. As long as a session
  // holds the object, the same object is returned.
  static std::shared_ptr<DeviceConstants> Of(
      std::shared_ptr<hal::Device> device,
      std::shared_ptr<const Module> module);

  DeviceConstants(std::shared_ptr<hal::Device> device,
                  std::shared_ptr<const Module> module);

  // Returns the range in the device's memory that has a copy of the bytes at
  // this host address. If the bytes belong to no constant, the range's buffer
  // is null.
  StatusOr<hal::BufferRange> Find(const uint8_t* address, int64_t bytes);

 private:
  // A range of host memory that is copied to the device as a whole: one
  // constant, or several that share bytes of the module's file. Shared bytes
  // are copied once.
  struct Entry {
    const uint8_t* begin;
    int64_t size;
    // the device's buffer with the copy; null until the constant is requested
    std::unique_ptr<hal::Buffer> buffer;
  };
  Status Upload(Entry& entry) const;

  const std::shared_ptr<hal::Device> device_;
  const std::shared_ptr<const Module> module_;
  std::mutex mutex_;            // guards the buffers
  std::vector<Entry> entries_;  // all constants, sorted by their host address
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICES_CONSTANTS_H_

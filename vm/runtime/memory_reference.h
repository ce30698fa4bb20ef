// What a buffer register of a program holds. Internal to sessions.
//
// data is an address of the host on every device: where a device has memory of
// its own, that of the mirror (vm/runtime/device_memory.h).
#ifndef EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_
#define EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_

#include <cstdint>

#include "vm/runtime/memory_pool.h"

namespace ember::vm {

// block is null for memory that outlives the run.
struct MemoryReference {
  uint8_t* data = nullptr;
  int64_t length = 0;
  MemoryBlock* block = nullptr;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_

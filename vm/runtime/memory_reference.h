// The contents of a buffer register of a program. Internal to sessions.
//
// `data` is a host address, whatever the device. If the device has memory of
// its own, it is an address in the mirror (vm/runtime/devices/memory.h).
#ifndef EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_
#define EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_

#include <cstdint>

#include "vm/runtime/memory_pool.h"

namespace ember::vm {

// A reference to memory: its address and the block that contains it. `block` is
// null if the memory exists longer than the run.
struct MemoryReference {
  uint8_t* data = nullptr;
  int64_t length = 0;
  MemoryBlock* block = nullptr;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_REFERENCE_H_

// Memory for constants that kernels keep in layouts of their own.
//
//   std::shared_ptr<void> memory = AllocatePacked(bytes);   // null: refused
//
// Kernels read much of it in every run. In small pages it would need more
// address translations than the processor's caches hold. Therefore constants
// share large blocks, which the system is asked to map in large pages. A block
// is freed with the last constant in it. 64-byte aligned, zeroed. Thread-safe.
#ifndef EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_
#define EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_

#include <cstdint>
#include <memory>

namespace ember::vm {

std::shared_ptr<void> AllocatePacked(int64_t bytes);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_

// Memory for constants that kernels have packed, that is, copied to a layout of
// their own.
//
//   std::shared_ptr<void> memory = AllocatePacked(bytes);   // null: refused
//
// Kernels read much of this memory in every run. If it consisted of small
// pages, it would need more address translations than the processor can cache.
// Therefore constants share large blocks, which the system is asked to map in
// large pages. A block is freed together with the last constant in it. The
// memory is 64-byte aligned and zeroed. Thread-safe.
#ifndef EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_
#define EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_

#include <cstdint>
#include <memory>

namespace ember::vm {

std::shared_ptr<void> AllocatePacked(int64_t bytes);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_PACKED_MEMORY_H_

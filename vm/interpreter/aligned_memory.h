// Memory that a plan owns. It begins at a cache line and consists of whole
// cache lines.
#ifndef EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_
#define EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/host_allocator.h"
#include "base/rounding.h"

namespace ember::vm {

struct AlignedDeleter {
  HostAllocator allocator;
  size_t bytes = 0;
  void operator()(char* p) const {
    if (allocator.is_set()) {
      allocator.release(allocator.context, p, bytes);
    } else {
      std::free(p);
    }
  }
};
using AlignedMemory = std::unique_ptr<char, AlignedDeleter>;

// Allocates at least this number of bytes, aligned to a cache line. Returns
// null if there is no memory.
inline AlignedMemory AllocateAligned(int64_t bytes,
                                     const HostAllocator& allocator) {
  constexpr size_t kLine = 64;
  const auto rounded =
      static_cast<size_t>(RoundUp(std::max<int64_t>(bytes, 1), kLine));
  void* const memory =
      allocator.is_set() ? allocator.allocate(allocator.context, rounded, kLine)
                         : std::aligned_alloc(kLine, rounded);
  return AlignedMemory(static_cast<char*>(memory), {allocator, rounded});
}

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_ALIGNED_MEMORY_H_

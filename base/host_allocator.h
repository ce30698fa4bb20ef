// Where large memory comes from, for programs that want to say so: an arena,
// results, packed operands.
//
//   HostAllocator allocator{&heap, HeapAllocate, HeapRelease};
//   hal::CreateCpuDevice({.threads = 2}, allocator);
//
// One without functions stands for the C library. The functions may be called
// on any thread; context outlives all memory.
#ifndef EMBER_BASE_HOST_ALLOCATOR_H_
#define EMBER_BASE_HOST_ALLOCATOR_H_

#include <cstddef>

namespace ember {

struct HostAllocator {
  void* context = nullptr;
  // Null if there is none. Contents do not matter; alignment: a power of two.
  void* (*allocate)(void* context, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes) = nullptr;

  bool is_set() const { return allocate != nullptr; }
};

}  // namespace ember

#endif  // EMBER_BASE_HOST_ALLOCATOR_H_

// The functions that allocate large memory: an arena, results, packed operands.
// A program that wants to control this memory passes its own.
//
//   HostAllocator allocator{&heap, HeapAllocate, HeapRelease};
//   hal::CreateCpuDevice({.threads = 2}, allocator);
//
// An allocator without functions uses the C library. The functions may be
// called on any thread; `context` must outlive all memory.
#ifndef EMBER_BASE_HOST_ALLOCATOR_H_
#define EMBER_BASE_HOST_ALLOCATOR_H_

#include <cstddef>

namespace ember {

struct HostAllocator {
  void* context = nullptr;
  // Allocates memory. Returns null if there is none. The contents are
  // unspecified; the alignment is a power of two.
  void* (*allocate)(void* context, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes) = nullptr;

  bool is_set() const { return allocate != nullptr; }
};

}  // namespace ember

#endif  // EMBER_BASE_HOST_ALLOCATOR_H_

// The functions with which the runtime allocates large memory: arenas, results
// of runs, packed operands. A program that wants to control this memory passes
// functions of its own.
//
//   HostAllocator allocator{&heap, HeapAllocate, HeapRelease};
//   hal::CreateCpuDevice({.threads = 2}, allocator);
//
// If the functions are null, the C library's allocation is used. The functions
// may be called on any thread; `context` must outlive all memory.
#ifndef EMBER_BASE_HOST_ALLOCATOR_H_
#define EMBER_BASE_HOST_ALLOCATOR_H_

#include <cstddef>

namespace ember {

struct HostAllocator {
  void* context = nullptr;
  // Allocates `bytes` bytes. Returns null if there is no memory. The contents
  // are unspecified; `alignment` is a power of two.
  void* (*allocate)(void* context, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes) = nullptr;

  bool is_set() const { return allocate != nullptr; }
};

}  // namespace ember

#endif  // EMBER_BASE_HOST_ALLOCATOR_H_

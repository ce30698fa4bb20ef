#include "tests/faults/allocations.h"

#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> is_on{false};
std::atomic<int64_t> seen{0}, failed{0};
std::atomic<size_t> first_failed_bytes{0};
ember::tests::AllocationFaults faults;

// The addresses of the code of the library that is spared
// (AllocationFaults::spared_library): its allocations never fail.
uintptr_t spared_begin = 0, spared_end = 0;

int FindSpared(dl_phdr_info* library, size_t, void*) {
  if (std::strstr(library->dlpi_name, faults.spared_library) == nullptr)
    return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    spared_begin = library->dlpi_addr + part.p_vaddr;
    spared_end = spared_begin + part.p_memsz;
  }
  return 1;
}

bool Fails(size_t bytes, const void* caller = nullptr) {
  if (!is_on.load(std::memory_order_acquire) || bytes < faults.least_bytes)
    return false;
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address >= spared_begin && address < spared_end) return false;
  const int64_t number = seen.fetch_add(1) + 1;
  if (faults.fail == 0 || number < faults.fail ||
      (number > faults.fail && !faults.stays))
    return false;
  if (failed.fetch_add(1) == 0) first_failed_bytes.store(bytes);
  return true;
}

}  // namespace

namespace ember::tests {

void StartAllocationFaults(const AllocationFaults& wanted) {
  faults = wanted;
  seen = 0;
  failed = 0;
  first_failed_bytes = 0;
  spared_begin = spared_end = 0;
  if (faults.spared_library != nullptr) ::dl_iterate_phdr(FindSpared, nullptr);
  is_on.store(true, std::memory_order_release);
}

AllocationCounts CurrentAllocationCounts() {
  return {seen.load(), failed.load(), first_failed_bytes.load()};
}

AllocationCounts StopAllocationFaults() {
  is_on.store(false, std::memory_order_release);
  return CurrentAllocationCounts();
}

}  // namespace ember::tests

// The linker redirects calls of malloc to __wrap_malloc (--wrap in BUILD), and
// calls of __real_malloc to malloc.
extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** memory, size_t alignment, size_t bytes);
void* __real_mmap(void* address, size_t bytes, int protection, int flags,
                  int file, off_t offset);

void* __wrap_malloc(size_t bytes) {
  if (!Fails(bytes)) return __real_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}

void* __wrap_calloc(size_t count, size_t bytes) {
  if (!Fails(count * bytes)) return __real_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}

void* __wrap_realloc(void* memory, size_t bytes) {
  if (!Fails(bytes)) return __real_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}

void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  if (!Fails(bytes)) return __real_aligned_alloc(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

int __wrap_posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (!Fails(bytes)) return __real_posix_memalign(memory, alignment, bytes);
  return ENOMEM;
}

void* __wrap_mmap(void* address, size_t bytes, int protection, int flags,
                  int file, off_t offset) {
  if (!Fails(bytes))
    return __real_mmap(address, bytes, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

}  // extern "C"

namespace {

void* AllocateOrNull(size_t bytes, const void* caller) {
  return Fails(bytes, caller) ? nullptr : __real_malloc(bytes == 0 ? 1 : bytes);
}

void* AllocateOrNull(size_t bytes, std::align_val_t alignment,
                     const void* caller) {
  const auto unit = static_cast<size_t>(alignment);
  return Fails(bytes, caller)
             ? nullptr
             : __real_aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}

void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define CALLER __builtin_return_address(0)

void* operator new(size_t bytes) {
  return OrThrow(AllocateOrNull(bytes, CALLER));
}
void* operator new[](size_t bytes) {
  return OrThrow(AllocateOrNull(bytes, CALLER));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, CALLER);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, CALLER);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return OrThrow(AllocateOrNull(bytes, alignment, CALLER));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return OrThrow(AllocateOrNull(bytes, alignment, CALLER));
}
void* operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, alignment, CALLER);
}
void* operator new[](size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, alignment, CALLER);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t,
                     const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t,
                       const std::nothrow_t&) noexcept {
  std::free(memory);
}

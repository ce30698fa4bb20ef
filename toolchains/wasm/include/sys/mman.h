// Mappings for a machine without any: WebAssembly has one linear memory. Each
// request for a mapping fails, as it does on a system without memory, so that
// callers report it or use malloc.
#ifndef EMBER_TOOLCHAINS_WASM_INCLUDE_SYS_MMAN_H_
#define EMBER_TOOLCHAINS_WASM_INCLUDE_SYS_MMAN_H_

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define MAP_NORESERVE 0x4000
#define MAP_FAILED ((void*)-1)
#define MADV_DONTNEED 4

static inline void* mmap(void* address, size_t size, int protection, int flags,
                         int file, off_t offset) {
  (void)address, (void)size, (void)protection, (void)flags, (void)file,
      (void)offset;
  errno = ENOMEM;
  return MAP_FAILED;
}
static inline int munmap(void* address, size_t size) {
  (void)address, (void)size;
  return 0;
}
static inline int mprotect(void* address, size_t size, int protection) {
  (void)address, (void)size, (void)protection;
  errno = ENOSYS;
  return -1;
}
static inline int madvise(void* address, size_t size, int advice) {
  (void)address, (void)size, (void)advice;
  return 0;
}

#endif  // EMBER_TOOLCHAINS_WASM_INCLUDE_SYS_MMAN_H_

#include "base/page_hints.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

#include "base/rounding.h"
#endif

namespace ember {

#if defined(__linux__)

namespace {

// Numbers of the hints MADV_POPULATE_READ and MADV_POPULATE_WRITE of madvise.
// Linux has them since version 5.14; headers of older systems do not define
// them.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

uintptr_t PageBytes() { return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

void ReadAhead(std::span<const uint8_t> bytes) {
  const uintptr_t page = PageBytes();
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = address / page * page;
  if (bytes.empty()) return;
  static_cast<void>(madvise(reinterpret_cast<void*>(begin),
                            address + bytes.size() - begin, kPopulateRead));
}

void TouchPages(void* memory, size_t bytes) {
  constexpr size_t kLeast = size_t{64} << 10, kMax = size_t{64} << 20;
  if (bytes < kLeast || bytes > kMax) return;
  const uintptr_t page = PageBytes();
  const auto address = reinterpret_cast<uintptr_t>(memory);
  // Only pages that lie completely inside the range are touched: a page at its
  // edge may also hold memory of other owners.
  const uintptr_t begin = RoundUp(address, page);
  const uintptr_t end = (address + bytes) / page * page;
  if (begin >= end) return;
  static_cast<void>(
      madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite));
}

#else

void ReadAhead(std::span<const uint8_t>) {}
void TouchPages(void*, size_t) {}

#endif

}  // namespace ember

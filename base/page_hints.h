// Asks the system to bring in pages of memory that will be used soon, all at
// once. Without the hint the first access to each page causes a page fault,
// which in total takes several times as long and delays the thread that makes
// the access.
//
//   ReadAhead(weights);                  // of a mapped file
//   TouchPages(arena, bytes);            // about to be written
//
// These are hints: a system that does not support them (Linux before 5.14, or
// another system) loads each page at the first access. Contents do not change.
// Thread-safe.
#ifndef EMBER_BASE_PAGE_HINTS_H_
#define EMBER_BASE_PAGE_HINTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ember {

void ReadAhead(std::span<const uint8_t> bytes);

// Brings in the pages of memory that is about to be written. Nothing is done
// for more than 64 MiB, because a caller that passes more may never use all of
// it, nor for less than 64 KiB, which is not worth a system call.
void TouchPages(void* memory, size_t bytes);

}  // namespace ember

#endif  // EMBER_BASE_PAGE_HINTS_H_

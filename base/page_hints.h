// Asks the system to bring in pages of memory that will be used soon all at
// once. One fault for each page takes several times as long, and delays the
// thread that touches the page first.
//
//   ReadAhead(weights);                  // of a mapped file
//   TouchPages(arena, bytes);            // about to be written
//
// These are hints: where the system does not support them (before Linux 5.14,
// or another system) pages come when they are used. Contents do not change.
// Thread-safe.
#ifndef EMBER_BASE_PAGE_HINTS_H_
#define EMBER_BASE_PAGE_HINTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ember {

void ReadAhead(std::span<const uint8_t> bytes);

// Brings in the pages of memory that is about to be written. It touches at most
// 64 MiB, as a caller that asks for more may never use all of it, and does
// nothing below 64 KiB, which is not worth a system call.
void TouchPages(void* memory, size_t bytes);

}  // namespace ember

#endif  // EMBER_BASE_PAGE_HINTS_H_

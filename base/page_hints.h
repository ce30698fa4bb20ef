// What is told to the system of memory that will be used soon, so that pages
// come all at once and not by a fault for each, which takes several times as
// long and falls to whoever touches them first.
//
//   ReadAhead(weights);                  // of a mapped file
//   TouchPages(arena, bytes);            // about to be written
//
// Wishes: where the system cannot (before Linux 5.14, or others) nothing
// happens, and pages come when they are used. Contents do not change.
// Thread-safe.
#ifndef EMBER_BASE_PAGE_HINTS_H_
#define EMBER_BASE_PAGE_HINTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ember {

void ReadAhead(std::span<const uint8_t> bytes);

// Of at most 64 MiB, and of 64 KiB at least: who asks for more may never use
// all of it, and less is not worth a call of the system.
void TouchPages(void* memory, size_t bytes);

}  // namespace ember

#endif  // EMBER_BASE_PAGE_HINTS_H_

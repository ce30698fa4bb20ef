// Gives the memory of mapped files back to the system for now.
//
//   ReleaseMappedPages(weights);   // a kernel has a copy of them
//
// The contents do not change: a later read gets them from the file again,
// usually from the system's cache. Memory is left alone if it does not belong
// to a file that is mapped read-only (base/file.h), or if the system does not
// say what is mapped. Thread-safe.
#ifndef EMBER_BASE_MAPPED_PAGES_H_
#define EMBER_BASE_MAPPED_PAGES_H_

#include <cstdint>
#include <span>

namespace ember {

// Releases only whole pages inside the range. Reads the list of the process's
// mappings, which is not worth it for less than a megabyte.
void ReleaseMappedPages(std::span<const uint8_t> bytes);

}  // namespace ember

#endif  // EMBER_BASE_MAPPED_PAGES_H_

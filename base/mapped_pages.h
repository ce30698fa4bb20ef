// Gives the memory that the pages of mapped files occupy back to the system.
//
//   ReleaseMappedPages(weights);   // a kernel has a copy of them
//
// The contents do not change: a later access loads the page from the file
// again, usually from the system's cache. Memory is left alone if it does not
// belong to a file that is mapped read-only (base/file.h), or if the system
// does not say what is mapped. Thread-safe.
#ifndef EMBER_BASE_MAPPED_PAGES_H_
#define EMBER_BASE_MAPPED_PAGES_H_

#include <cstdint>
#include <span>

namespace ember {

// Releases only whole pages inside the range. The function reads the system's
// list of the process's mappings, so a call for less than a megabyte is not
// worth its time.
void ReleaseMappedPages(std::span<const uint8_t> bytes);

}  // namespace ember

#endif  // EMBER_BASE_MAPPED_PAGES_H_

// Memory of files that are mapped, given back to the system for now.
//
//   ReleaseMappedPages(weights);   // a kernel has a copy of them
//
// Their contents stay what they are: who reads them later gets them from the
// file again, which the system has in its cache as a rule. What is no memory of
// a file that is mapped read-only (base/file.h) is left alone, and so is
// everything where the system does not say what is mapped. Thread-safe.
#ifndef EMBER_BASE_MAPPED_PAGES_H_
#define EMBER_BASE_MAPPED_PAGES_H_

#include <cstdint>
#include <span>

namespace ember {

// Whole pages inside the range alone. Reads the list of the process' mappings:
// not worth it for less than a megabyte.
void ReleaseMappedPages(std::span<const uint8_t> bytes);

}  // namespace ember

#endif  // EMBER_BASE_MAPPED_PAGES_H_

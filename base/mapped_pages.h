// Finds the mapped file that memory belongs to, and gives the physical memory
// of its pages back to the system.
//
//   ReleaseMappedPages(weights);   // a kernel has a copy of them
//   FindMapping(weights)->path     // "/models/resnet50.vmfb"
//
// The contents do not change: a later access loads the page from the file
// again, usually from the system's cache. Memory is left alone if it does not
// belong to a file that is mapped read-only (base/file.h), or if the system
// does not say what is mapped. Thread-safe.
#ifndef EMBER_BASE_MAPPED_PAGES_H_
#define EMBER_BASE_MAPPED_PAGES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ember {

// A part of a file that is mapped read-only.
struct FileMapping {
  std::string path;
  uint64_t inode = 0;
  uint64_t offset = 0;           // position of `begin` in the file
  uintptr_t begin = 0, end = 0;  // addresses of the mapping

  bool Contains(std::span<const uint8_t> bytes) const {
    const auto first = reinterpret_cast<uintptr_t>(bytes.data());
    return begin <= first && first <= end && bytes.size() <= end - first;
  }
};

// Returns the mapping that has all of the bytes; nullopt if there is none. The
// function reads the system's list of the process's mappings, which takes tens
// of microseconds. The path is the one that the file had when it was mapped or
// when it was last renamed.
std::optional<FileMapping> FindMapping(std::span<const uint8_t> bytes);

// Releases only whole pages inside the range. The function reads the system's
// list of the process's mappings, so a call for less than a megabyte is not
// worth its time.
void ReleaseMappedPages(std::span<const uint8_t> bytes);

}  // namespace ember

#endif  // EMBER_BASE_MAPPED_PAGES_H_

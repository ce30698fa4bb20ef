#include "base/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace ember {
namespace {

// Returns the mapping that a line of /proc/self/maps describes, if it is one of
// a file that the process may read but not write to; nullopt otherwise:
//
//   7f3a10000000-7f3a30000000 r--p 00000000 08:01 131 /models/resnet50.vmfb
std::optional<FileMapping> MappingOf(const char* line) {
  FileMapping mapping;
  char access[5] = {};
  int path = 0;
  const int fields = std::sscanf(
      line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %*s %" SCNu64 " %n",
      &mapping.begin, &mapping.end, access, &mapping.offset, &mapping.inode,
      &path);
  if (fields != 5 || access[0] != 'r' || access[1] != '-' || mapping.inode == 0)
    return std::nullopt;
  mapping.path = line + path;
  if (mapping.path.ends_with('\n')) mapping.path.pop_back();
  return mapping;
}

}  // namespace

std::optional<FileMapping> FindMapping(std::span<const uint8_t> bytes) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return std::nullopt;
  std::optional<FileMapping> found;
  // Holds one line of /proc/self/maps, which ends with a path of up to 4096
  // bytes.
  char line[4608];
  // True if `line` holds the beginning of a line of the file; false if it holds
  // the rest of a line that did not fit.
  bool is_begin = true;
  while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
    if (is_begin) found = MappingOf(line);
    if (found && !found->Contains(bytes)) found = std::nullopt;
    is_begin = std::strchr(line, '\n') != nullptr;
  }
  std::fclose(maps);
  return found;
}

void ReleaseMappedPages(std::span<const uint8_t> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + bytes.size()) / page * page;
  if (begin >= end) return;
  const auto* const data = reinterpret_cast<const uint8_t*>(begin);
  if (!FindMapping({data, end - begin})) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace ember

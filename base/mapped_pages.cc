#include "base/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace ember {
namespace {

// True if the range is in one mapping of a file, and the process may not write
// to the mapping. `line` is a line of /proc/self/maps:
//
//   7f3a10000000-7f3a30000000 r--p 00000000 08:01 131 /models/resnet50.vmfb
bool IsOfFile(const char* line, uintptr_t begin, uintptr_t end) {
  uintptr_t from = 0, to = 0;
  char access[5] = {};
  uint64_t inode = 0;
  const int fields =
      std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %" SCNu64, &from,
                  &to, access, &inode);
  return fields == 4 && from <= begin && end <= to && access[0] == 'r' &&
         access[1] == '-' && inode != 0;
}

bool IsOfFile(uintptr_t begin, uintptr_t end) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  bool is_of_file = false;
  char line[512];
  // True if `line` is the beginning of a line. False if it is the rest of a
  // line that was too long for the buffer.
  bool is_begin = true;
  while (!is_of_file && std::fgets(line, sizeof line, maps) != nullptr) {
    is_of_file = is_begin && IsOfFile(line, begin, end);
    is_begin = false;
    for (const char* c = line; *c != '\0'; ++c) is_begin |= *c == '\n';
  }
  std::fclose(maps);
  return is_of_file;
}

}  // namespace

void ReleaseMappedPages(std::span<const uint8_t> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + bytes.size()) / page * page;
  if (begin >= end || !IsOfFile(begin, end)) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace ember

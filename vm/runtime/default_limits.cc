#include "vm/runtime/default_limits.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ember::vm {
namespace {

// Returns the number that a file contains. Returns INT64_MAX if the file does
// not exist, or contains a number below 1, the word "max" (no limit) or another
// text in place of a number.
int64_t NumberIn(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return INT64_MAX;
  char text[32] = {};
  const size_t read = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  char* end = text;
  const long long number = std::strtoll(text, &end, 10);
  return read == 0 || end == text || number <= 0 ? INT64_MAX : number;
}

// Returns the smallest memory limit of this process's control group and all
// groups that contain it (version 2 of control groups, in which the entry is
// "0::/path"). Of version 1 it reads only the limit of the root group.
int64_t GroupLimit() {
  const std::string root = "/sys/fs/cgroup";
  int64_t limit = std::min(NumberIn(root + "/memory.max"),
                           NumberIn(root + "/memory/memory.limit_in_bytes"));
  std::FILE* const file = std::fopen("/proc/self/cgroup", "re");
  if (file == nullptr) return limit;
  char line[4096];
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    std::string path = line;
    if (!path.starts_with("0::/")) continue;
    path = path.substr(3, path.find('\n') - 3);
    for (; path.size() > 1; path.resize(path.rfind('/')))
      limit = std::min(limit, NumberIn(root + path + "/memory.max"));
  }
  std::fclose(file);
  return limit;
}

}  // namespace

int64_t DefaultMemoryLimit() {
  // The limit is read from the system once per process and kept, because every
  // new session needs it.
  static const int64_t limit = [] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    const int64_t machine =
        pages > 0 && page > 0 ? int64_t{pages} * page : INT64_MAX;
    return std::min(machine, GroupLimit());
  }();
  return limit;
}

}  // namespace ember::vm

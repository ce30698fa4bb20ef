#include "tools/lib/cli/process_memory.h"

#include <unistd.h>

#include <cstdio>

namespace ember::tools {

int64_t WritableBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long long data = 0;
  if (std::fscanf(file, "%*s %*s %*s %*s %*s %lld", &data) != 1) data = 0;
  std::fclose(file);
  return data * sysconf(_SC_PAGESIZE);
}

}  // namespace ember::tools

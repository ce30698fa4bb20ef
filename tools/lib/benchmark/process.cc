#include "tools/lib/benchmark/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "base/build_id.h"

namespace ember::tools {
double ResidentMegabytes() {
  long long total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lld %lld", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) *
         static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

double PeakResidentMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string BuildId() {
  const std::string id = BuildIdAt(reinterpret_cast<const void*>(&BuildId));
  return id.empty() ? "unknown" : id.substr(0, 12);
}

}  // namespace ember::tools

#include "tools/lib/process.h"

#include <elf.h>
#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace ember::tools {
namespace {

// The first object that is visited is the program itself.
int FindBuildId(dl_phdr_info* info, size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* note =
        reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* end = note + header.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) fields;
      std::memcpy(&fields, note, sizeof(fields));
      const auto* description = reinterpret_cast<const unsigned char*>(
          note + sizeof(fields) + ((fields.n_namesz + 3) & ~3u));
      if (fields.n_type == NT_GNU_BUILD_ID && fields.n_descsz >= 6) {
        char hex[16];
        std::snprintf(hex, sizeof(hex), "%02x%02x%02x%02x%02x%02x",
                      description[0], description[1], description[2],
                      description[3], description[4], description[5]);
        *static_cast<std::string*>(result) = hex;
        return 1;
      }
      note = reinterpret_cast<const char*>(description) +
             ((fields.n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

}  // namespace

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
  std::string id = "unknown";
  dl_iterate_phdr(FindBuildId, &id);
  return id;
}

}  // namespace ember::tools

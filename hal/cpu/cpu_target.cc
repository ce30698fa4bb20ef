#include "hal/cpu/cpu_target.h"

#include <unistd.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <fstream>

namespace ember::hal {
namespace {

#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#elif defined(__arm__)
constexpr const char* kArchitecture = "armv7";
#elif defined(__riscv)
constexpr const char* kArchitecture = "riscv64";
#elif defined(__wasm__)
constexpr const char* kArchitecture = "wasm32";
#else
constexpr const char* kArchitecture = "unknown";
#endif

#if defined(__linux__)
constexpr const char* kSystem = "linux";
#elif defined(__APPLE__)
constexpr const char* kSystem = "darwin";
#else
constexpr const char* kSystem = "none";
#endif

}  // namespace

std::string HostTarget() {
  std::string target = std::string(kArchitecture) + "-" + kSystem;
#if defined(__x86_64__)
  __builtin_cpu_init();
// The builtin takes a literal only.
#define EMBER_ADD_FEATURE(name) \
  if (__builtin_cpu_supports(name)) target += "+" name;
  EMBER_ADD_FEATURE("avx2")
  EMBER_ADD_FEATURE("fma")
  EMBER_ADD_FEATURE("avx512f")
  EMBER_ADD_FEATURE("avx512bw")
  EMBER_ADD_FEATURE("avx512vl")
  EMBER_ADD_FEATURE("avx512vnni")
  EMBER_ADD_FEATURE("avxvnni")
  EMBER_ADD_FEATURE("avx512bf16")
#undef EMBER_ADD_FEATURE
#elif defined(__aarch64__) || defined(__ARM_NEON)
  target += "+neon";
#if defined(__aarch64__) && defined(__linux__)
  // <asm/hwcap.h>: ASIMDDP.
  constexpr unsigned long kDotProducts = 1ul << 20;
  if (getauxval(AT_HWCAP) & kDotProducts) target += "+dotprod";
#endif
#endif
  return target;
}

std::string HostName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "";
}

int64_t HostMemoryBytes() {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
#else
  return 0;
#endif
}

}  // namespace ember::hal

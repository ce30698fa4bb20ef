#include "hal/cpu/cpu_target.h"

#include <unistd.h>
#if defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <fstream>
#include <thread>

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

void AddCache(int name, const char* text, std::string& target) {
  const long bytes = ::sysconf(name);
  if (bytes > 0)
    target += "+" + std::string(text) + "=" + std::to_string(bytes >> 10) + "K";
}

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
#elif defined(__aarch64__)
  target += "+neon";
#if defined(__linux__)
  // <asm/hwcap.h>: ASIMDDP, I8MM.
  constexpr unsigned long kDotProducts = 1ul << 20;
  constexpr unsigned long kMixedProducts = 1ul << 13;
  if (getauxval(AT_HWCAP) & kDotProducts) target += "+dotprod";
  if (getauxval(AT_HWCAP2) & kMixedProducts) target += "+i8mm";
  // SVE, with vectors of so many bytes.
  constexpr unsigned long kScalable = 1ul << 22;
  if (getauxval(AT_HWCAP) & kScalable) {
    const int bytes = prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK;
    target += "+sve=" + std::to_string(8 * bytes);
  }
#endif
#elif defined(__arm__) && defined(__linux__)
  // <asm/hwcap.h>: NEON, VFPv4.
  constexpr unsigned long kNeon = 1ul << 12;
  constexpr unsigned long kFusedMultiplyAdd = 1ul << 16;
  if (getauxval(AT_HWCAP) & kNeon) target += "+neon";
  if (getauxval(AT_HWCAP) & kFusedMultiplyAdd) target += "+vfp4";
#endif
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  AddCache(_SC_LEVEL1_DCACHE_SIZE, "l1", target);
  AddCache(_SC_LEVEL2_CACHE_SIZE, "l2", target);
  AddCache(_SC_LEVEL3_CACHE_SIZE, "l3", target);
#endif
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return target + "+cores=" + std::to_string(cores);
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

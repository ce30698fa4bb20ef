#include "hal/cpu/target.h"

#include <unistd.h>
#if defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>
#include <thread>

#include "base/concat.h"
#include "base/target_text.h"

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

// A feature that target strings may require of this architecture's processors.
struct Feature {
  std::string_view name;
  // True if HostTarget() lists the feature. Features that follow from listed
  // ones, such as the levels v2 and v3 of x86-64, are not listed.
  bool is_named;
  bool (*is_here)();
};

#if defined(__x86_64__)
// Makes a row of the table of x86 features. A macro is needed, because
// __builtin_cpu_supports accepts only a string literal.
#define EMBER_X86_FEATURE(name, is_named, builtin) \
  {name, is_named, [] { return __builtin_cpu_supports(builtin) != 0; }},
constexpr Feature kFeatures[] = {
    EMBER_X86_FEATURE("v2", false, "x86-64-v2") EMBER_X86_FEATURE(
        "v3", false, "x86-64-v3") EMBER_X86_FEATURE("v4", false, "x86-64-v4")
        EMBER_X86_FEATURE("avx2", true, "avx2") EMBER_X86_FEATURE(
            "fma", true, "fma") EMBER_X86_FEATURE("avx512f", true, "avx512f")
            EMBER_X86_FEATURE("avx512bw", true, "avx512bw") EMBER_X86_FEATURE(
                "avx512vl", true, "avx512vl")
                EMBER_X86_FEATURE("avx512vnni", true, "avx512vnni")
                    EMBER_X86_FEATURE("avxvnni", true, "avxvnni")
                        EMBER_X86_FEATURE("avx512bf16", true, "avx512bf16")};
#undef EMBER_X86_FEATURE
#elif defined(__aarch64__) && defined(__linux__)
// The features of AArch64 and how to test for them. The shifts are those of
// HWCAP_ASIMDDP, HWCAP2_I8MM and HWCAP_SVE in <asm/hwcap.h>.
constexpr Feature kFeatures[] = {
    {"neon", true, [] { return true; }},
    {"dotprod", true, [] { return (getauxval(AT_HWCAP) & (1ul << 20)) != 0; }},
    {"i8mm", true, [] { return (getauxval(AT_HWCAP2) & (1ul << 13)) != 0; }},
    {"sve", false, [] { return (getauxval(AT_HWCAP) & (1ul << 22)) != 0; }}};
#elif defined(__aarch64__)
constexpr Feature kFeatures[] = {{"neon", true, [] { return true; }}};
#elif defined(__arm__) && defined(__linux__)
// The features of 32-bit Arm. The numbers are the bits NEON and VFPv4 of
// <asm/hwcap.h>.
constexpr Feature kFeatures[] = {
    {"neon", true, [] { return (getauxval(AT_HWCAP) & (1ul << 12)) != 0; }},
    {"vfp4", true, [] { return (getauxval(AT_HWCAP) & (1ul << 16)) != 0; }}};
#elif defined(__wasm_simd128__)
// The features of WebAssembly. All are present, because an engine without them
// refuses to load this code.
constexpr Feature kFeatures[] = {{"simd128", true, [] { return true; }}};
#else
constexpr std::span<const Feature> kFeatures;
#endif

const Feature* FindFeature(std::string_view name) {
  for (const Feature& feature : kFeatures) {
    if (feature.name == name) return &feature;
  }
  return nullptr;
}

// Returns the number of bits of an SVE vector; 0 without SVE.
int64_t SveBits() {
#if defined(__aarch64__) && defined(__linux__)
  const Feature* const sve = FindFeature("sve");
  if (!sve->is_here()) return 0;
  return 8 * (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK);
#else
  return 0;
#endif
}

// True for a part of a target string that describes caches or cores. It is no
// requirement: it guides schedules, but the code also runs on machines with
// other caches and cores.
bool IsDescription(std::string_view name) {
  return name == "l1" || name == "l2" || name == "l3" || name == "cores";
}

std::string KindOfMachine() {
  return std::string(kArchitecture) + "-" + kSystem;
}

// Returns the number at the start of a file; 0 if there is none.
long NumberInFile(const char* path) {
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return 0;
  long number = 0;
  if (std::fscanf(file, "%ld", &number) != 1) number = 0;
  std::fclose(file);
  return number;
}

// Returns the size in KiB of the first processor's cache of this level, as
// Linux describes it (if there are several, of the last one that is listed); 0
// if it is not known.
long KilobytesOfCache(int level) {
  constexpr int kMaxCaches = 8;
  long found = 0;
  for (int i = 0; i < kMaxCaches; ++i) {
    const std::string folder =
        Concat({"/sys/devices/system/cpu/cpu0/cache/index", i, "/"});
    if (NumberInFile((folder + "level").c_str()) == level)
      found = NumberInFile((folder + "size").c_str());
  }
  return found;
}

void AddCache(int level, int name, std::string& target) {
  // For level 3, sysconf may return the sum of all caches of a socket, of which
  // a core uses one (AMD).
  long kilobytes = level == 3 ? KilobytesOfCache(level) : 0;
  if (kilobytes <= 0) kilobytes = ::sysconf(name) >> 10;
  if (kilobytes > 0) target += Concat({"+l", level, "=", kilobytes, "K"});
}

}  // namespace

std::string MissingFeatures(std::string_view target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  const TargetText wanted(target);
  if (wanted.name() != KindOfMachine()) return std::string(wanted.name());
  std::string missing;
  wanted.ForEachFeature([&](std::string_view text) {
    const std::string_view name = text.substr(0, text.find('='));
    if (IsDescription(name)) return;
    const Feature* const feature = FindFeature(name);
    // For SVE the vector length must be equal, too: code that was compiled for
    // one length gives wrong results on machines with another.
    const bool has = feature != nullptr && feature->is_here() &&
                     (name != "sve" || wanted.Number("sve") == SveBits());
    if (has) return;
    if (!missing.empty()) missing += ", ";
    missing += text;
  });
  return missing;
}

int CountFeatures(std::string_view target) {
  int count = 0;
  TargetText(target).ForEachFeature([&](std::string_view text) {
    count += !IsDescription(text.substr(0, text.find('=')));
  });
  return count;
}

std::string HostTarget() {
  std::string target = KindOfMachine();
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  for (const Feature& feature : kFeatures) {
    if (!feature.is_named || !feature.is_here()) continue;
    target += '+';
    target += feature.name;
  }
  if (const int64_t bits = SveBits(); bits > 0)
    target += Concat({"+sve=", bits});
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  AddCache(1, _SC_LEVEL1_DCACHE_SIZE, target);
  AddCache(2, _SC_LEVEL2_CACHE_SIZE, target);
  AddCache(3, _SC_LEVEL3_CACHE_SIZE, target);
#endif
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return Concat({target, "+cores=", cores});
}

std::string HostName() {
  // The C functions are used instead of a stream, because a C++ stream would
  // add ten times as much code to the runtime as the rest of this file has.
  std::FILE* const file = std::fopen("/proc/cpuinfo", "r");
  if (file == nullptr) return "";
  std::string name;
  // Lines that do not fit (lists of flags) are read in several pieces, none of
  // which looks like a model name.
  char buffer[512];
  while (name.empty() && std::fgets(buffer, sizeof buffer, file) != nullptr) {
    std::string_view line = buffer;
    const size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string_view::npos)
      continue;
    line.remove_prefix(colon + 2);
    name = line.substr(0, line.find('\n'));
  }
  std::fclose(file);
  return name;
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

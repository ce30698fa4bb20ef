#include "hal/cpu/cpu_target.h"

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
#undef EMBER_ADD_FEATURE
#elif defined(__aarch64__) || defined(__ARM_NEON)
  target += "+neon";
#endif
  return target;
}

}  // namespace ember::hal

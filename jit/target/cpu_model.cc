#include "jit/target/cpu_model.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace ember::jit {
namespace {

bool HasFeature(std::string_view target, std::string_view feature) {
  size_t begin = target.find('+');
  while (begin != std::string_view::npos) {
    const size_t end = target.find('+', begin + 1);
    if (target.substr(begin + 1, end - begin - 1) == feature) return true;
    begin = end;
  }
  return false;
}

// What the system says, or `otherwise` where it says nothing.
int64_t CacheBytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

CpuModel CpuModel::Of(std::string_view target) {
  CpuModel cpu;
  if (target.starts_with("x86_64")) {
    cpu.has_fma = HasFeature(target, "fma");
    if (HasFeature(target, "avx512f")) {
      cpu.vector_bytes = 64;
      cpu.vector_registers = 32;
      cpu.has_masks = true;
      cpu.has_byte_dots =
          HasFeature(target, "avx512vnni") && HasFeature(target, "avx512vl");
      cpu.has_short_dots = HasFeature(target, "avx512bw");
      cpu.has_small_byte_dots = cpu.has_short_dots;
      cpu.has_bfloat_dots =
          HasFeature(target, "avx512bf16") && HasFeature(target, "avx512vl");
    } else if (HasFeature(target, "avx2")) {
      cpu.vector_bytes = 32;
      cpu.has_byte_dots = HasFeature(target, "avxvnni");
      cpu.has_short_dots = true;
      cpu.has_small_byte_dots = true;
    }
  } else if (target.starts_with("aarch64")) {
    cpu.vector_registers = 32;
    cpu.has_fma = true;
    cpu.has_integer_fma = true;
    cpu.has_byte_dots = HasFeature(target, "dotprod");
  }
  cpu.l1_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, cpu.l1_bytes);
  cpu.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE, cpu.l2_bytes);
  cpu.l3_bytes = CacheBytes(_SC_LEVEL3_CACHE_SIZE, cpu.l3_bytes);
  cpu.cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return cpu;
}

int CpuModel::Lanes(DType type) const {
  return std::max<int>(1, vector_bytes / static_cast<int>(DTypeByteSize(type)));
}

}  // namespace ember::jit

#include "tests/performance/guarded_cpus.h"

#include <algorithm>

namespace ember::tests {
namespace {

constexpr GuardedCpu kCpus[] = {
    {"avx2", VectorKind::kAvx2, "x86_64-linux+avx2+fma",
     "x86_64-linux-gnu:znver3"},
    {"avx512", VectorKind::kAvx512,
     "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni",
     "x86_64-linux-gnu:cascadelake"},
    {"avx512_bf16", VectorKind::kAvx512,
     "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni+avx512bf16",
     "x86_64-linux-gnu:znver4"},
    {"neon", VectorKind::kNeon, "aarch64-linux+neon+dotprod",
     "aarch64-linux-gnu:neoverse-n1"},
};

}  // namespace

jit::CpuModel GuardedCpu::Model() const {
  jit::CpuModel cpu = jit::CpuModel::Of(target);
  const jit::CpuModel otherwise;
  cpu.l1_bytes = otherwise.l1_bytes;
  cpu.l2_bytes = otherwise.l2_bytes;
  cpu.l3_bytes = otherwise.l3_bytes;
  cpu.cores = otherwise.cores;
  return cpu;
}

std::span<const GuardedCpu> GuardedCpus() { return kCpus; }

const GuardedCpu* FindGuardedCpu(std::string_view name) {
  const auto found = std::ranges::find(kCpus, name, &GuardedCpu::name);
  return found == std::end(kCpus) ? nullptr : found;
}

}  // namespace ember::tests

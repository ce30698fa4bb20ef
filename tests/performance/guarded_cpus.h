// The processors for which the code of the guarded models is compiled and
// examined, whatever this processor is: one of each kind of vectors.
#ifndef EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_
#define EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_

#include <span>
#include <string_view>

#include "jit/target/cpu_model.h"

namespace ember::tests {

// A kind of vectors: kAvx2 has 32 bytes, kAvx512 has 64, kNeon has 16.
enum class VectorKind { kAvx2, kAvx512, kNeon };
inline constexpr int kVectorKinds = 3;

struct GuardedCpu {
  // Name of the CPU, for names of test cases.
  const char* name;
  VectorKind kind;
  // Target text of the CPU, in the form of hal::Device::target().
  const char* target;
  // Name by which NewLlvmCompiler knows the CPU.
  const char* generator;

  // Returns the properties by which schedules are chosen for the CPU, with the
  // default sizes of caches and numbers of cores.
  jit::CpuModel Model() const;
};

std::span<const GuardedCpu> GuardedCpus();
// Returns the CPU with this name. Null if there is none.
const GuardedCpu* FindGuardedCpu(std::string_view name);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_

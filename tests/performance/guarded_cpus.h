// The processors that code of the guarded models is made for and looked at,
// whatever this one is: one of each kind of vectors.
#ifndef EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_
#define EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_

#include <span>
#include <string_view>

#include "jit/target/cpu_model.h"

namespace ember::tests {

// Of 32, 64 and 16 bytes.
enum class VectorKind { kAvx2, kAvx512, kNeon };
inline constexpr int kVectorKinds = 3;

struct GuardedCpu {
  const char* name;  // as of a test case
  VectorKind kind;
  const char* target;     // as hal::Device::target() has it
  const char* generator;  // NewLlvmCompiler's CPU

  // With the caches and cores that a model has where a machine says nothing.
  jit::CpuModel Model() const;
};

std::span<const GuardedCpu> GuardedCpus();
// Null: there is none of that name.
const GuardedCpu* FindGuardedCpu(std::string_view name);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_GUARDED_CPUS_H_

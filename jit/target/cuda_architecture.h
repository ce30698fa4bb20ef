// Returns the NVIDIA architecture that a target string names.
//
//   CudaArchitecture("sm_90a+subgroup32+shared232448");   // 90
//   CudaArchitecture("vulkan1.3+subgroup32");             // 0
//
// The number is ten times the compute capability. Thread-safe.
#ifndef EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_
#define EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_

#include <string_view>

namespace ember::jit {

// The first architecture with asynchronous copies to shared memory (PTX ISA,
// instruction cp.async).
inline constexpr int kFirstWithAsyncCopies = 80;

// The first architecture whose maximum and minimum instructions return NaN if
// an operand is NaN (PTX ISA, max.NaN).
inline constexpr int kFirstWithNanExtremes = 80;

// Returns the architecture that the target names; 0 if it is not a device of
// CUDA.
int CudaArchitecture(std::string_view target);

// True if the target's name ends with an a, as "sm_90a" does. Code for it may
// then use instructions that later architectures lack.
bool HasOwnInstructions(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_

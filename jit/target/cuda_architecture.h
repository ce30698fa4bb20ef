// Which of NVIDIA's architectures a target string names.
//
//   CudaArchitecture("sm_90a+subgroup32+shared232448");   // 90
//   CudaArchitecture("vulkan1.3+subgroup32");             // 0
//
// The number is ten times the compute capability. Thread-safe.
#ifndef EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_
#define EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_

#include <string_view>

namespace ember::jit {

// The first architecture whose threads copy to shared memory without waiting
// (PTX ISA, "cp.async").
inline constexpr int kFirstWithAsyncCopies = 80;

// The first with maxima and minima that are NaN where an operand is (PTX ISA,
// "max", .NaN).
inline constexpr int kFirstWithNanExtremes = 80;

// 0 where the target is no device of CUDA.
int CudaArchitecture(std::string_view target);

// Whether code for the target may use what later architectures do not have:
// its name ends with an a, as "sm_90a" does.
bool HasOwnInstructions(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_CUDA_ARCHITECTURE_H_

// Prepares a nest that was compiled for this process for the launcher of CPU
// kernels (vm/runtime/kernels/cpu_kernel.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler.Compile(nest, {}));
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::CpuKernel> kernel,
//                          vm::CpuKernel::Create(DefineKernel(
//                              DescribeKernel(request, nest, 1),
//                              std::move(code), request.constant_data, "")));
//
// Thread-safe.
#ifndef EMBER_JIT_BACKEND_HOST_KERNEL_H_
#define EMBER_JIT_BACKEND_HOST_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/backend/object_compiler.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernels/cpu_kernel.h"

namespace ember::jit {

// Returns the definition of a kernel with the nest's code. The kernel keeps the
// code alive; kernels of equal nests may share the code
// (jit/cache/caching_compiler.h). constants: CpuKernelDefinition::constants,
// which must live until the kernel is created.
vm::CpuKernelDefinition DefineKernel(
    vm::KernelImage image, std::unique_ptr<CompiledNest> code,
    std::vector<std::span<const uint8_t>> constants, std::string description);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_HOST_KERNEL_H_

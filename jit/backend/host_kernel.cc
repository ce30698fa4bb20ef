#include "jit/backend/host_kernel.h"

#include <utility>

namespace ember::jit {

vm::CpuKernelDefinition DefineKernel(
    vm::KernelImage image, std::unique_ptr<CompiledNest> code,
    std::vector<std::span<const uint8_t>> constants, std::string description) {
  vm::CpuKernelDefinition definition;
  definition.image = std::move(image);
  definition.functions = code->prologue;
  definition.functions.insert(definition.functions.end(), code->phases.begin(),
                              code->phases.end());
  definition.code = std::shared_ptr<const CompiledNest>(std::move(code));
  definition.constants = std::move(constants);
  definition.description = std::move(description);
  return definition;
}

}  // namespace ember::jit

#include "jit/kernel/host_kernel.h"

#include <utility>

#include "jit/kernel/describe_nest.h"
#include "vm/interpreter/plan.h"

namespace ember::jit {

vm::KernelImage DescribeKernel(const vm::KernelRequest& request,
                               const loops::LoopNest& nest,
                               double error_growth) {
  vm::KernelImage image = DescribeNest(nest);
  image.target = request.target;
  image.tier = request.tier;
  image.error_growth = error_growth;
  image.shape = request.parameters;
  const int inputs = static_cast<int>(request.dispatch->input_count());
  const int outputs = static_cast<int>(request.dispatch->output_count());
  for (int i = 0; i < inputs; ++i) {
    for (int o = inputs; o < inputs + outputs; ++o) {
      image.buffers[static_cast<size_t>(i)].may_be_overwritten |=
          vm::MayAlias(*request.dispatch, i, o);
    }
  }
  return image;
}

vm::CpuKernelDefinition DefineKernel(
    vm::KernelImage image, const CompiledNest& code,
    std::vector<std::span<const uint8_t>> constants, std::string description) {
  vm::CpuKernelDefinition definition;
  definition.image = std::move(image);
  definition.functions = code.prologue;
  definition.functions.insert(definition.functions.end(), code.phases.begin(),
                              code.phases.end());
  definition.code = code.memory;
  definition.constants = std::move(constants);
  definition.description = std::move(description);
  return definition;
}

}  // namespace ember::jit

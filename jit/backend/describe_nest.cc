#include "jit/backend/describe_nest.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/dtype.h"
#include "jit/backend/formula_builder.h"
#include "jit/backend/iteration_formulas.h"
#include "vm/interpreter/plan.h"

namespace ember::jit {
namespace {

using tensor::NodeId;
using vm::KernelScope;

KernelScope ScopeOf(loops::MemoryScope scope) {
  switch (scope) {
    case loops::MemoryScope::kInput:
      return KernelScope::kInput;
    case loops::MemoryScope::kOutput:
      return KernelScope::kOutput;
    case loops::MemoryScope::kPacked:
      return KernelScope::kPacked;
    case loops::MemoryScope::kCall:
      return KernelScope::kCall;
    case loops::MemoryScope::kTask:
      return KernelScope::kTask;
    case loops::MemoryScope::kRegister:
      return KernelScope::kRegister;
  }
  EMBER_CHECK(false) << "an unknown scope";
  return KernelScope::kRegister;
}

}  // namespace

vm::KernelImage DescribeNest(const loops::LoopNest& nest) {
  vm::KernelImage image;
  image.dispatch = nest.name;
  image.parameter_count = static_cast<uint32_t>(nest.parameters.size());
  FormulaBuilder formulas(nest.pool, image.formulas);
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) {
      const NodeId tasks = nest.pool[phase.task].operands[0];
      image.phases.push_back(formulas.Add(tasks));
    }
  }
  image.prologue_count = static_cast<uint32_t>(nest.prologue.size());
  for (const loops::Buffer& buffer : nest.buffers) {
    vm::KernelBuffer& described = image.buffers.emplace_back();
    described.name = buffer.name;
    described.type = buffer.type;
    described.scope = ScopeOf(buffer.scope);
    if (described.scope <= KernelScope::kOutput)
      described.alignment = static_cast<uint32_t>(DTypeByteSize(buffer.type));
    for (const NodeId extent : buffer.extents)
      described.extents.push_back(formulas.Add(extent));
  }
  return image;
}

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

vm::KernelImage ImageOf(const vm::KernelRequest& request,
                        const loops::LoopNest& nest, double error_growth,
                        vm::KernelCode code) {
  vm::KernelImage image = DescribeKernel(request, nest, error_growth);
  image.code = std::move(code);
  if (std::ranges::any_of(image.code.device, [](const vm::DevicePhase& phase) {
        return phase.most_iterations > 0;
      })) {
    AddIterations(nest, image);
  }
  return image;
}

}  // namespace ember::jit

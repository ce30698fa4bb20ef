#include "tests/performance/model_code.h"

#include <memory>
#include <utility>

#include "jit/llvm/all_targets.h"
#include "jit/llvm/compiler.h"
#include "jit/loops/text/text.h"
#include "tests/performance/model_nests.h"

namespace ember::tests {

StatusOr<std::vector<KernelCode>> CodeOf(onnx::ModelBuilder& model,
                                         const GuardedCpu& cpu,
                                         const std::string& schedule_folder) {
  jit::llvm_ir::UseAllTargets();
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<jit::ObjectCompiler> compiler,
                         jit::llvm_ir::NewLlvmCompiler(cpu.generator));
  EMBER_ASSIGN_OR_RETURN(std::vector<ModelNest> nests,
                         NestsOf(model, cpu, schedule_folder));
  std::vector<KernelCode> kernels;
  for (ModelNest& nest : nests) {
    jit::CompiledNest figures;
    const StatusOr<std::string> object =
        compiler->CompileToObject(nest.nest, {.keep_assembly = true}, &figures);
    EMBER_RETURN_IF_ERROR(object.status().WithContext(nest.dispatch));
    kernels.push_back({nest.dispatch, PropertiesOf(figures.assembly),
                       std::move(nest.schedule), loops::ToText(nest.nest),
                       std::move(figures.assembly)});
  }
  return kernels;
}

}  // namespace ember::tests

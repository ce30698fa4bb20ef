#include "compiler/lowering/emit.h"

#include "compiler/lowering/program_emitter.h"
#include "vm/isa/model_metadata.h"

namespace ember::compiler {

StatusOr<vm::ModuleDefinition> EmitModule(const graph::Graph& graph,
                                          const FusionPlan& plan) {
  ModuleInProgress module;
  EMBER_RETURN_IF_ERROR(ProgramEmitter(graph, plan, module, "main")
                            .Emit(/*is_entry=*/true)
                            .status());
  module.definition.strings = graph.strings();
  for (const auto& [key, value] : graph.metadata())
    vm::SetMetadata(key, value, module.definition.metadata);
  return std::move(module.definition);
}

}  // namespace ember::compiler

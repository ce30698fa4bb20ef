// Makes a module of a graph: dispatches, memory, and the programs that connect
// them.
//
//   EMBER_ASSIGN_OR_RETURN(FusionPlan plan, FormDispatches(graph, {}));
//   EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
//                          EmitModule(graph, plan));
//
// Constants are not copied: the module shares their memory. Errors: an input
// with a dim that is neither a constant nor a symbol. Thread-safe for distinct
// graphs.
#ifndef EMBER_COMPILER_LOWERING_EMIT_H_
#define EMBER_COMPILER_LOWERING_EMIT_H_

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/lowering/fusion_plan.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler {

// Makes the module from the graph and its plan. An operation that the plan does
// not store is computed as part of the dispatches that read its result.
StatusOr<vm::ModuleDefinition> EmitModule(const graph::Graph& graph,
                                          const FusionPlan& plan);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_EMIT_H_

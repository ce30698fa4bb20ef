// From a graph to a module: dispatches, memory, and the program that ties them
// together.
#ifndef EMBER_COMPILER_LOWERING_EMIT_H_
#define EMBER_COMPILER_LOWERING_EMIT_H_

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/lowering/fusion.h"
#include "vm/format/module_definition.h"

namespace ember::compiler {

// The graph must have been simplified; every operation that `plan` leaves out
// is written into the dispatches of its users.
StatusOr<vm::ModuleDefinition> EmitModule(const graph::Graph& graph,
                                          const FusionPlan& plan);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_EMIT_H_

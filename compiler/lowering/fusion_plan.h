// The grouping of operations into dispatches: dispatch formation
// (compiler/lowering/fusion.h) makes it and emission (emit.h) reads it.
//
//   EMBER_ASSIGN_OR_RETURN(FusionPlan plan, FormDispatches(graph, {}));
//   EMBER_RETURN_IF_ERROR(VerifyPlan(plan));
//   std::string text = PrintPlan(plan);  // "dispatch @d0_conv_maximum…"
//
// A plan points into its graph, which must outlive it unchanged. Thread-safe
// for distinct graphs.
#ifndef EMBER_COMPILER_LOWERING_FUSION_PLAN_H_
#define EMBER_COMPILER_LOWERING_FUSION_PLAN_H_

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

struct FusionGroup {
  // The operations of one dispatch in execution order, without those that are
  // inlined; or the single operation that the program runs itself.
  std::vector<const graph::Operation*> operations;
};

struct FusionPlan {
  const graph::Graph* graph = nullptr;
  // The values that are computed into a buffer: they have memory of their own
  // or are temporaries of a dispatch. All other values are inlined.
  std::set<const graph::Value*> stored;
  // The groups in the order in which they run.
  std::vector<FusionGroup> groups;
  // The plans of the operations' regions, in any order.
  std::vector<FusionPlan> regions;

  const FusionPlan& OfRegion(const graph::Graph& region) const;
};

// Returns the results of the group that are needed outside: another group's
// dispatch, the program or the graph's caller reads them. If none is needed,
// returns the result of the last operation, because a dispatch must have an
// output.
std::set<const graph::Value*> OutputsOf(const FusionPlan& plan,
                                        const FusionGroup& group);

// Returns a name such as "d3_conv_add": a number and the group's first
// operations.
std::string DispatchName(const FusionGroup& group, size_t number);

// Returns kInternal, naming the operation, if an operation that needs a group
// is in none or in two, if a group reads a value that no earlier group has
// made, or if a region has no plan.
Status VerifyPlan(const FusionPlan& plan);

// Prints, for reading, the dispatches in execution order, with a comment for
// each operation that the program runs between them; regions follow the graph
// around them.
std::string PrintPlan(const FusionPlan& plan);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_FUSION_PLAN_H_

// Which operations share a dispatch: what dispatch formation
// (compiler/lowering/fusion.h) decides and emission (emit.h) reads.
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
  // Stored ones, in execution order; or the only one, that the program runs.
  std::vector<const graph::Operation*> operations;
};

struct FusionPlan {
  const graph::Graph* graph = nullptr;
  // Results that have memory or are temporaries of a group.
  std::set<const graph::Value*> stored;
  std::vector<FusionGroup> groups;  // in execution order
  std::vector<FusionPlan> regions;  // of the graph's operations, in any order

  const FusionPlan& OfRegion(const graph::Graph& region) const;
};

// Results of the group that are needed outside: another group's dispatch, the
// program or the graph's caller reads them.
std::set<const graph::Value*> OutputsOf(const FusionPlan& plan,
                                        const FusionGroup& group);

// "d3_conv_add": a number, and what the group begins with.
std::string DispatchName(const FusionGroup& group, size_t number);

// kInternal, naming the operation: where an operation that needs a group is in
// none or in two, where a group reads what no group before it has made, and
// where a region has no plan.
Status VerifyPlan(const FusionPlan& plan);

// The dispatches in execution order, and a comment for each operation that the
// program runs between them; regions behind the graph around them. For reading.
std::string PrintPlan(const FusionPlan& plan);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_FUSION_PLAN_H_

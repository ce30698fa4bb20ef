// Forms dispatches: chooses which values get memory and which operations share
// a dispatch.
//
// 1. Storage. Operations that only move elements, and elementwise ones with a
//    single use that reads each element about once, are inlined into the
//    expression that uses them. Everything else is stored: it becomes a stage.
//
// 2. Groups. A stored operation joins the dispatch of one of its producers if
// it
//    reads that producer's results at its own index on a common prefix of dims
//    ("rows"): epilogues of contractions and windows, softmax and layer-norm
//    chains. Rows are then computed one after another while they are in cache, and
//    values used only inside need no memory. A contraction joins if it combines
//    such rows (of a group that needs whole rows anyway) with an operand that is
//    not constant, and has few columns for the number of rows: softmax(q k) v is
//    one dispatch. A gather that only such a dispatch reads, such as keys and
//    values in blocks of a cache, joins it as a whole.
//
// An operation that the program runs itself (control flow, library calls) is a
// group of its own. It orders the dispatches around it: those that need a
// symbol come after the operation that defines it.
//
// No limit here depends on a machine. Limits count how often a value is read or
// computed again, and how much every executor has to bind or hold.
//
// Agreement of two operations on a prefix is read from their definitions (the
// index registers of the loads), so there is no list of operator pairs.
#ifndef EMBER_COMPILER_LOWERING_FUSION_H_
#define EMBER_COMPILER_LOWERING_FUSION_H_

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/lowering/fusion_plan.h"  // IWYU pragma: export

namespace ember::compiler {

struct FusionOptions {
  // If false, groups are not formed: each stored operation gets a dispatch of
  // its own.
  bool join_groups = true;
};

// Decides which values are stored and which operations share a dispatch. The
// plan points into the graph, which must outlive it unchanged.
StatusOr<FusionPlan> FormDispatches(const graph::Graph& graph,
                                    const FusionOptions& options);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_FUSION_H_

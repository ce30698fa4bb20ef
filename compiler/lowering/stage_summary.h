// Summarises one stored operation for fusion, from its definition: on how many
// leading dims it reads and writes at its own index.
//
//   // %s[i0] = sum(k0 < 10) %x[i0, k0]; both on dim 0 only
//   Summarize(*reduce, stored).read_depth.at(x) == 1
//   Summarize(*reduce, stored).write_depth == 1
#ifndef EMBER_COMPILER_LOWERING_STAGE_SUMMARY_H_
#define EMBER_COMPILER_LOWERING_STAGE_SUMMARY_H_

#include <map>
#include <set>

#include "compiler/graph/graph.h"

namespace ember::compiler {

struct StageSummary {
  // For each stored value, graph input or constant that the operation reads:
  // the number of leading dims for which every read uses the index of the
  // element that is being computed, over the dim's whole extent. Reads through
  // inlined operations count, too.
  std::map<const graph::Value*, int> read_depth;
  // Number of leading dims for which all results are written at the index of
  // the element that is being computed (the rows of fusion).
  int write_depth = 0;
};

StageSummary Summarize(const graph::Operation& operation,
                       const std::set<const graph::Value*>& stored);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STAGE_SUMMARY_H_

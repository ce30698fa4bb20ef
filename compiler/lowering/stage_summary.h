// What fusion needs to know of one stored operation, read off its definition:
// on how many leading dims it reads and writes in step with its own index.
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
  // Per stored value, graph input or constant that is read: on how many leading
  // dims the operation reads it at its own index (over the whole extent),
  // whatever the path of inlined operations.
  std::map<const graph::Value*, int> read_depth;
  // On how many leading dims the results are written at the operation's own
  // index.
  int write_depth = 0;
};

StageSummary Summarize(const graph::Operation& operation,
                       const std::set<const graph::Value*>& stored);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STAGE_SUMMARY_H_

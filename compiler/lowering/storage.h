// Which values are stored (compiler/lowering/fusion.h, step 1).
#ifndef EMBER_COMPILER_LOWERING_STORAGE_H_
#define EMBER_COMPILER_LOWERING_STORAGE_H_

#include <cstdint>
#include <set>

#include "compiler/graph/graph.h"

namespace ember::compiler {

// Values that need memory: results of operations with stages of their own,
// graph outputs, and those whose inlining would repeat work, but not where few
// operations compute them from what takes less memory. Graph inputs, constants
// and reshapes are never in the set.
std::set<const graph::Value*> ChooseStorage(const graph::Graph& graph);

// Elements of a shape, symbols counted as `symbol_extent`: for cost estimates
// only.
int64_t EstimateElements(const graph::Shape& shape, int64_t symbol_extent = 16);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STORAGE_H_

// Chooses the values that are stored (compiler/lowering/fusion.h, step 1).
#ifndef EMBER_COMPILER_LOWERING_STORAGE_H_
#define EMBER_COMPILER_LOWERING_STORAGE_H_

#include <cstdint>
#include <set>

#include "compiler/graph/graph.h"

namespace ember::compiler {

// Returns the values that need memory: results of operations with stages of
// their own, graph outputs, and values whose inlining would repeat work, unless
// a few operations compute them from a value that takes less memory. Graph
// inputs, constants and reshapes are never in the set.
std::set<const graph::Value*> ChooseStorage(const graph::Graph& graph);

// Estimates the elements of a shape for costs; symbols count as
// `symbol_extent`.
int64_t EstimateElements(const graph::Shape& shape, int64_t symbol_extent = 16);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STORAGE_H_

// Functions with which passes read the values of constants.
#ifndef EMBER_COMPILER_PASSES_CONSTANT_VALUE_H_
#define EMBER_COMPILER_PASSES_CONSTANT_VALUE_H_

#include <optional>

#include "compiler/graph/graph.h"

namespace ember::compiler {

// Returns the `constant` operation that produces a value, or null.
const graph::Operation* ConstantOf(const graph::Value* value);

// Returns the value that every element of a constant has (a scalar, or all
// elements equal), exactly, as a double. nullopt if the value is no such
// constant, has more than 4096 elements or is an integer beyond 2^53. Looks
// through broadcasts and reshapes.
std::optional<double> UniformConstant(const graph::Value* value);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_CONSTANT_VALUE_H_

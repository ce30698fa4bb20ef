// Refuses a graph in which integers are divided by a constant 0.
//
//   %z: i32[] = constant() {value = [0]}
//   %y: i32[4] = divide(%x, %z)          InvalidArgument: … expected an integer
//                                        divisor other than 0 …
//
// A divisor that is not constant may be 0; the result is 0 then
// (tensor/instructions.h). A constant divisor 0 is accepted, with the result 0,
// if only `select` reads the result and so may ignore it, if the number of the
// result's elements depends on data and may be 0, and in regions that a run may
// skip: one branch of an `if` whose other branch divides by no 0, and the
// bodies of loops.
#ifndef EMBER_COMPILER_PASSES_CHECK_DIVISORS_H_
#define EMBER_COMPILER_PASSES_CHECK_DIVISORS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// True if the operation (divide, floor_divide, modulo, remainder) divides
// integers by a constant that has an element 0, also behind reshapes and
// broadcasts. Such an operation is not folded, so that CheckDivisors finds it.
bool DividesByZero(const graph::Operation& operation);

// Returns an error if the graph or one of its regions has a division by a
// constant 0 that is not accepted. Changes nothing.
Status CheckDivisors(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_CHECK_DIVISORS_H_

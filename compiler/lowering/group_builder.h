// Builds one dispatch from a group of operations by composing their
// definitions. Operands that are stored become loads; all others are inlined
// into the expression that uses them.
//
//   BuiltDispatch built = BuildDispatch(
//       {"softmax_3", {max_op, exp_op, sum_op, div_op}, outputs}, stored);
//   built.dispatch   // stages for max, exp, sum, div; inputs, outputs: buffers
//   built.inputs     // the value behind each input buffer, in order
//
// A reshape of a stored value from outside the group costs nothing: the buffer
// is declared with the reshaped extents (row-major memory is the same).
#ifndef EMBER_COMPILER_LOWERING_GROUP_BUILDER_H_
#define EMBER_COMPILER_LOWERING_GROUP_BUILDER_H_

#include <set>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "tensor/dispatch.h"

namespace ember::compiler {

struct DispatchRequest {
  std::string name;
  // The stored operations of the group, in execution order. Inlined operations
  // are not listed.
  std::vector<const graph::Operation*> operations;
  // The operations' results that are needed outside of the group; the others
  // are temporaries.
  std::set<const graph::Value*> outputs;
  // True if reshapes of stored values become buffers of other extents;
  // otherwise they become index arithmetic.
  bool alias_reshapes = true;
};

struct BuiltDispatch {
  tensor::Dispatch dispatch;
  // For each input buffer, in order: the value whose memory is bound to it.
  std::vector<const graph::Value*> inputs;
  // For each output buffer, in order: the value that the dispatch stores to it.
  std::vector<const graph::Value*> outputs;
};

// Builds the dispatch. `stored` holds every value that has memory when a group
// runs, besides graph inputs and constants.
BuiltDispatch BuildDispatch(const DispatchRequest& request,
                            const std::set<const graph::Value*>& stored);

// True if the operation's result is its operand's memory with other extents.
bool SharesMemory(const graph::Operation& operation);

// Returns the value whose memory a value uses: the value itself, or the one
// that it reshapes.
const graph::Value* StorageRoot(const graph::Value* value);

// True for a constant of one element, which is written into expressions instead
// of being loaded.
bool IsScalarConstant(const graph::Value* value);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_GROUP_BUILDER_H_

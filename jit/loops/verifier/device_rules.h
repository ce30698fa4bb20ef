// Checks statements that only device nests have: stores that combine values of
// a subgroup, asynchronous stores, stores of vectors, and loops that bind the
// number of a subgroup. The verifier calls these functions, and checks the
// operands itself.
//
//   EMBER_RETURN_IF_ERROR(CheckAsyncStore(nest, store, in_invocations));
//
// Errors: kInvalidArgument with a message of one line. Thread-safe.
#ifndef EMBER_JIT_LOOPS_VERIFIER_DEVICE_RULES_H_
#define EMBER_JIT_LOOPS_VERIFIER_DEVICE_RULES_H_

#include <optional>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Checks an invocation loop that also binds the number of the invocation's
// subgroup (Statement::subgroup).
Status CheckSubgroupsOf(const LoopNest& nest, const Statement& loop);

// Checks a store that combines the values of a subgroup: all invocations of the
// subgroup must execute the store, and store to one element. `loop`: the
// surrounding loop that binds the subgroup's number; null if there is none.
Status CheckCombinedStore(const LoopNest& nest, const Statement* loop,
                          const Store& store);

Status CheckAsyncStore(const LoopNest& nest, const Store& store,
                       bool in_invocations);

// Checks a store that is marked as a vector store (Store::vector). lanes: the
// variable of the surrounding vector loop, if there is one.
Status CheckVectorStore(const LoopNest& nest, const Store& store,
                        std::optional<NodeId> lanes);

// Checks an update that is marked to round once (Store::rounds_once): it must
// add a product to an f32.
Status CheckRoundsOnce(const LoopNest& nest, const Store& store);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_DEVICE_RULES_H_

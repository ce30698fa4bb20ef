// Checks the forms of statements of device nests: stores of what subgroups
// combine, asynchronous stores, stores of vectors, and loops that name
// subgroups. A part of the verifier, which checks their operands.
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

// Checks a loop over invocations that names their subgroups, too.
Status CheckSubgroupsOf(const LoopNest& nest, const Statement& loop);

// Checks a store of what a subgroup combines: all its invocations execute the
// store, and they have one element. loop: the surrounding loop that names
// subgroups; null if there is none.
Status CheckCombinedStore(const LoopNest& nest, const Statement* loop,
                          const Store& store);

Status CheckAsyncStore(const LoopNest& nest, const Store& store,
                       bool in_invocations);

// lanes: the variable of the surrounding vector loop.
Status CheckVectorStore(const LoopNest& nest, const Store& store,
                        std::optional<NodeId> lanes);

// Checks an update that rounds once.
Status CheckRoundsOnce(const LoopNest& nest, const Store& store);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_DEVICE_RULES_H_

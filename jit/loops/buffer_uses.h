// Which buffers a block stores to and how invocations share them. Of nests that
// are not verified yet, too: buffers that do not exist and blocks deeper than
// kMaximumNesting are passed over. Internal to the verifier.
//
//   invocation i < 8 { %r[i] = %x[i]; %t[0] = %r[i] }
//
// %r, if it is a register buffer, is one of each invocation (first index i), %t
// is shared.
//
// Sets of buffers have an entry per buffer of the nest. Thread-safe.
#ifndef EMBER_JIT_LOOPS_BUFFER_USES_H_
#define EMBER_JIT_LOOPS_BUFFER_USES_H_

#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Whether the node loads from a buffer.
bool IsAccess(const tensor::Node& node);

// The buffers that the block stores to.
std::vector<bool> StoredIn(const LoopNest& nest, const Block& block);

// Of those the ones of which the invocations of a loop with this variable and
// body do not have parts of their own, by the first index.
std::vector<bool> SharedIn(const LoopNest& nest, NodeId variable,
                           const Block& body);

// The register buffers that are accessed somewhere with the variable of the
// invocation loop around as their first index.
std::vector<bool> BuffersOfInvocations(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_BUFFER_USES_H_

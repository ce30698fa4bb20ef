// Checks parts of a nest that can be judged without the surrounding loops:
// names, buffers, and the types of single nodes. Internal to the verifier.
#ifndef EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_
#define EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Checks names, buffers and their extents.
Status CheckSignature(const LoopNest& nest);

// Checks the number of elements of register buffers. `per_invocation`: for each
// buffer, true if its first index is the number of the invocation, so that each
// invocation has its own elements.
Status CheckRegisterCounts(const LoopNest& nest,
                           const std::vector<bool>& per_invocation);

// Checks the types of one node. The caller has checked its operands before.
Status CheckNode(const LoopNest& nest, NodeId id);

// Checks that an access has as many indices as the buffer has dims, all of type
// i64.
Status CheckIndexTypes(const LoopNest& nest, const Buffer& buffer,
                       std::span<const NodeId> indices);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_

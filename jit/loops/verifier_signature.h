// What of a nest can be checked without regard to the place of it: names,
// buffers, and the types of single nodes. Internal to the verifier.
#ifndef EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_
#define EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Names, buffers and their extents.
Status CheckSignature(const LoopNest& nest);

// The elements of register buffers; per_invocation: those of which each
// invocation has its own, by the first index.
Status CheckRegisterCounts(const LoopNest& nest,
                           const std::vector<bool>& per_invocation);

// The node's own types; those of its operands have been checked.
Status CheckNode(const LoopNest& nest, NodeId id);

// As many indices as dims, of type i64.
Status CheckIndexTypes(const LoopNest& nest, const Buffer& buffer,
                       std::span<const NodeId> indices);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_SIGNATURE_H_

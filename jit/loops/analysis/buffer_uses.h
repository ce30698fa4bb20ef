// Finds the buffers that a block stores to, and how invocations share them. The
// functions also accept nests that are not verified yet: they skip buffers that
// do not exist and blocks deeper than kMaxNesting.
//
//   invocation i < 8 { %r[i] = %x[i]; %t[0] = %r[i] }
//
// If %r is a register buffer, each invocation has its own element of it (first
// index i). %t is shared.
//
// A set of buffers is a vector<bool> with an entry per buffer of the nest.
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_BUFFER_USES_H_
#define EMBER_JIT_LOOPS_ANALYSIS_BUFFER_USES_H_

#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// True if the node loads from a buffer.
bool IsAccess(const tensor::Node& node);

// Returns the buffers that the block stores to.
std::vector<bool> StoredIn(const LoopNest& nest, const Block& block);

// Returns the stored buffers that several invocations of a loop share. A buffer
// is shared if some access in the loop's body does not have the loop's variable
// as its first index.
std::vector<bool> SharedIn(const LoopNest& nest, NodeId variable,
                           const Block& body);

// Returns, for each buffer, true if it is a register buffer and some access in
// an invocation loop has that loop's variable as its first index, so that each
// invocation has elements of its own.
std::vector<bool> BuffersOfInvocations(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_BUFFER_USES_H_

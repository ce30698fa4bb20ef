// Checks the workgroups of a device nest (jit/loops/workgroup.h). The verifier
// calls this after its other checks.
//
//   CheckWorkgroups(nest)   // "phase 0: buffer %t: expected bytes below 8192 of
//                           // the workgroup's memory, found 8192 to 8448"
//
// Checked, if any phase has a workgroup:
//   - every phase has one, of 1..kMaxInvocations invocations, and no invocation
//     loop has more
//   - exactly the buffers that the phase accesses have storage, and are marked
//     as read and written as the phase does
//   - the storage fits the buffer's scope: inputs, outputs, packed and call
//     buffers are in memory; buffers of tasks are shared, private or slices;
//     register buffers are registers or matrices
//   - if each invocation runs a task by itself (kTaskEach), invocations share
//     no memory, and phases of one invocation per task have no invocation loops
//   - shared and private buffers have constant extents, and the bytes of a shared
//     buffer are in the workgroup's memory, aligned to its elements
//   - properties of BufferStorage that only registers, panels or device memory
//     can have are set for these kinds only
//   - marks and slots name rings of the workgroup; only subgroup loops await and
//     release slots, only the producer fills them, and a copy of a box is an
//     invocation loop with one asynchronous store, whose box fits its buffers
//
// Shared bytes are not checked for races; the evaluator finds these.
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_VERIFIER_WORKGROUP_RULES_H_
#define EMBER_JIT_LOOPS_VERIFIER_WORKGROUP_RULES_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Checks the workgroups of a nest that obeys all other rules. Errors:
// kInvalidArgument with a message of one line.
Status CheckWorkgroups(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_WORKGROUP_RULES_H_

// Verifies a loop nest: the rules that lowering keeps and back ends rely on.
//
//   EMBER_RETURN_IF_ERROR(loops::Verify(nest));
//
// Checked:
//   names       have the form of tensor/names.h; names of buffers are unique, as
//               are those of variables and parameters
//   order       buffers: inputs, outputs, others; inputs are never written,
//               packed buffers only by the prologue, which sees inputs, packed,
//               task and register buffers only; a load or update comes after a
//               store to the buffer (of this phase, for task and register
//               buffers), except for inputs
//   variables   every Axis node in a statement is bound by a loop or the task
//               around it, once; unrolled, vector and invocation extents are
//               constants (1..4096, 1..64 and 1..2^20); no vector or invocation
//               loop in another, no invocation loop in a vector loop; extents
//               have no loads in them and do not depend on vector variables
//   types       indices are i64, as many as the buffer has dims; values have
//               the buffer's type; conditions are bool; operands have the types
//               that the instruction table wants; no sums and products of bool
//   registers   kRegister: extents are constants, at most 4096 elements; each
//               index is a constant after unrolling, except that the last one
//               may have a vector variable added once. If an access in an
//               invocation loop has that loop's variable as its first index,
//               every access to the buffer has, in loops of the first extent,
//               and that extent does not count towards the 4096 elements.
//               Otherwise a load in an invocation loop comes after a store in
//               the loop's body, and what the loop stores is lost after it
//   combining   an update in an invocation loop has that loop's variable, or a
//               load, in its indices, or is alone in the loop
//               (jit/loops/analysis/combining.h): not of registers, reading nothing that
//               it updates, each buffer by one kind of update
//   matrices    a matrix loop has the form of jit/loops/analysis/matrix_operation.h and
//               is in a subgroup loop, which contains serial and unrolled loops
//               and branches besides, and nothing else. Only matrix loops access
//               the accumulators of matrix loops; a subgroup loop either reads a
//               buffer or stores to it. For the rules above a subgroup loop
//               counts as an invocation loop, and a matrix loop as an unrolled
//               one, of extent 1..256
//   workgroups  the rules of jit/loops/verifier/workgroup_rules.h: each phase of
//               a device nest says where the buffers that it accesses are
//   bounds      every load and store is provably in bounds (Pad needs no proof)
//   nesting     statements are nested at most kMaxNesting deep
//
// Proofs of bounds use these facts about integers that are not u64
// (jit/loops/analysis/facts.h, jit/loops/analysis/bounds.h):
//   - constants, ranges of types, and the ranges that every instruction of
//     tensor/range_rules.h derives from them;
//   - in a loop: 0 <= i < extent, 1 <= extent; if the extent is a product that
//     does not overflow, of factors that are not negative, 1 <= each of them;
//   - under `if`: <, <=, ==, and their combinations by `and`, `or`, `not`;
//   - after a check, up to the end of its block: that it did not fail;
//   - extents of inputs and outputs are in 0..2^40, products of them as a whole
//     do not overflow (the caller that runs the nest refuses other parameters);
//   - i64 sums and products by constants that cannot wrap follow from each
//     other: `i * 16 + j < N` gives `i * 16 < N` and, for i * 4 + j floordiv 4,
//     `i * 4 + j floordiv 4 < N`;
//   - q = x floordiv c: c * q <= x <= c * q + c - 1; x mod m < m; min, max and
//     select are one of their operands; t floordiv M < N for t < N * M.
//
// A fact about a value with loads in it holds until the task stores to a buffer
// that was loaded from, or to an output of the type and rank of such an input
// (they may share memory). It is not used where other tasks of the phase, or
// invocations of the loop around, store to the buffer, except for task buffers
// of which each invocation has its own part, by the first index. So a nest that
// checks a loaded index once and uses it often should keep it in a register
// buffer.
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_VERIFIER_VERIFIER_H_
#define EMBER_JIT_LOOPS_VERIFIER_VERIFIER_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Verifies the nest. Returns kInvalidArgument with one line: "loops @name:
// phase 1: ...: expected ..., found ...".
Status Verify(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_VERIFIER_H_

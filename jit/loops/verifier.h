// Checks a loop nest: what lowering promises and back ends rely on.
//
//   EMBER_RETURN_IF_ERROR(loops::Verify(nest));
//
// Checked:
//   names       tensor/names.h; buffers unique, variables and parameters unique
//   order       buffers: inputs, outputs, others; phases write what is read:
//               inputs are never written, packed buffers only by the prologue,
//               which reads inputs and packed buffers only
//   variables   every Axis node in a statement is bound by a loop or the task
//               around it, once; unrolled and vector extents are constants
//               (1..4096 and 1..64); no vector loop in another; extents do not
//               depend on vector variables
//   types       indices are i64, as many as the buffer has dims; values have
//               the buffer's type; conditions are bool; operands have the types
//               that the instruction table wants
//   registers   kRegister: extents are constants, at most 4096 elements; each
//               index is a constant once unrolled variables are, but for the
//               last, to which a vector variable may be added once
//   bounds      every load and store is provably in bounds: by the ranges of
//               its variables, or under an If or after a Check that says so
//               (Pad needs no proof). Of kInput and kOutput buffers, whose
//               extents are symbolic, a proof may use that a node equal to
//               `i < extent` is the condition of an If around it.
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_VERIFIER_H_
#define EMBER_JIT_LOOPS_VERIFIER_H_

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// kInvalidArgument with one line: "loops @name: phase 1: ...: expected ...,
// found ...".
Status Verify(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_H_

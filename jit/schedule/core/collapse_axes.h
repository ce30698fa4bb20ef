// Collapses two neighbouring axes into one, before a computation is scheduled,
// if every access uses them together:
//
//   %y[0, i, j, o] = sum(c < 64) %x[0, i, j, c] * %w[c, o]   // i < 14, j < 14
//   %y[0, ij, o]   = sum(c < 64) %x[0, ij, c] * %w[c, o]     // ij < 196
//
// Tiles then divide 196 rows instead of 14 by 14, and loops have one index
// less. The contents of memory do not change: if the two axes index
// neighbouring dims of a buffer in every access of every stage, these dims
// become one dim as well. Extents are constant. The innermost dims, from which
// lanes are taken, stay as they are, except if they are not innermost in every
// buffer, or if a row is not a whole number of vectors.
//
//   Computation c = Disassemble(dispatch, parameters);
//   CollapseAxes(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_COLLAPSE_AXES_H_
#define EMBER_JIT_SCHEDULE_CORE_COLLAPSE_AXES_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Expects the computation as Disassemble made it. Leaves the dims of a buffer
// up to the last one that loaded values index as they are, so that a failed
// check names the dispatch's dim.
void CollapseAxes(Computation& computation);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_COLLAPSE_AXES_H_

// Stages that read nothing but constants are computed once, when a kernel is
// made, as copies of constants are that products read in another layout:
//
//   %w[n, k] = (f32(%q[n, k]) - 8.0) * %scales[n, k floordiv 32]
//   %y[i, n] = sum(k < 2048) %x[i, k] * %w[n, k]
//
// %w, made of the constants %q and %scales, becomes a constant for all that
// reads it: weights of few bits are expanded once, and not in each call.
//
//   Computation c = Disassemble(dispatch, parameters);
//   MakeConstant(c.buffers[1], data);
//   MarkConstantStages(c);
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_CONSTANT_STAGES_H_
#define EMBER_JIT_SCHEDULE_CORE_CONSTANT_STAGES_H_

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Results of constant extents whose indices need no check while the program
// runs, and that take at most kMaxGrowth times the memory of what they are
// made of: a broadcast is made anew where it is read.
void MarkConstantStages(Computation& computation);

// Of f32 by 4 bits with scales, and some more.
inline constexpr int64_t kMaxGrowth = 16;

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_CONSTANT_STAGES_H_

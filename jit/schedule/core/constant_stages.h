// Marks stages that read only constants, so that a kernel computes them once,
// when it is made, like the copies of constants in another layout that products
// read:
//
//   %w[n, k] = (f32(%q[n, k]) - 8.0) * %scales[n, k floordiv 32]
//   %y[i, n] = sum(k < 2048) %x[i, k] * %w[n, k]
//
// %w is computed from the constants %q and %scales, so it becomes a constant
// for all stages that read it: weights of few bits are expanded once, not in
// each call.
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

// Marks the results of stages that read only constants as constants. Such a
// stage must be the only one that stores to its result, a temporary, at the
// indices of its axes. Its extents must be constant, no index may need a check
// while the program runs, and the result may take at most kMaxGrowth times the
// memory of the constants that it is computed from. A broadcast that grows more
// is computed where it is read.
void MarkConstantStages(Computation& computation);

// Largest ratio of a computed constant's bytes to those of the constants that
// it is computed from. 4-bit weights with scales grow by less than a factor of
// 8 when they become f32, so the limit leaves some room.
inline constexpr int64_t kMaxGrowth = 16;

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_CONSTANT_STAGES_H_

// Decides where products of f16 and bf16, which are computed in f32, widen
// their operands.
//
//   %y[i, j] = sum(k) f32(%x[i, k]) * f32(%w[k, j])       both bf16
//
//   operand                               read by the product's tiles
//   %x, again for each tile of columns    from a copy in f32
//   %w, for many tiles of rows            from its packed copy, in f32
//   %w, for few                           packed as bf16, widened in registers
//
// A matrix that is read once is read from memory, and its number of bytes
// determines the time. For a matrix that is read often, each vector or value
// that is widened again costs an instruction (512x512x512 on Zen 3: 1.9 times
// the time of f32 with both operands narrow, 1.15 times with %w alone, the same
// time with none. A product of a row by 4096x4096 takes 0.6 of the time of
// f32).
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_WIDEN_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_WIDEN_RULE_H_

#include "jit/schedule/cpu/register_tile.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {

// True if the load's operand is to be read from a copy in f32, because it is a
// 16-bit float, and register tiles like `tile` read each element often.
bool ReadsWideCopy(const Computation& computation, const StageShape& shape,
                   const RegisterTile& tile, NodeId load);

// Makes products read copies in f32 of 16-bit floats that an earlier stage
// computes, so that the copies join the stages' groups. Must run before groups
// are formed.
void WidenTemporaries(ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_WIDEN_RULE_H_

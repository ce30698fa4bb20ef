// Copies the rows of products first, so that the elements that a register tile
// reads for a step of the sum are contiguous, and followed by those of the next
// step.
//
//   %y[i, j] = sum(k < 3072) %x[i, k] * %w[k, j]
//     // x.rows[i / 6, k, i % 6], read from its begin to its end by each tile
//
// This helps in two cases. Rows that are a multiple of 4096 bytes apart share a
// set of the first cache (and of the second, if there are many). And if
// neighbouring rows are neighbours in memory (a transposed matrix, the channels
// of a channels-first image), each step reads a cache line, of which a tile
// uses a few elements.
//
// The copy takes a cycle or two per element, so there must be enough results to
// make this negligible. Measured on Zen 3, one thread, copy included: 128 x
// 3072 by 3072 x 768 and 1024 x 1024 x 1024 0.92 of the time, 49 x 2048 by 2048
// x 512 with the rows transposed 0.64.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_PACK_ROWS_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_PACK_ROWS_RULE_H_

#include "jit/schedule/core/steps.h"
#include "jit/schedule/cpu/register_tile.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Copies the product's operands that move along the tile's rows, if their
// layout is bad for the caches as described above. Must run before the
// product's loops are split.
void PackRows(const jit::CpuModel& cpu, const StageRef& product,
              const RegisterTile& tile, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_PACK_ROWS_RULE_H_

// Products of narrow integers as dot loops (tensorize), on register tiles.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])     u8 by i8
//
//   CPU                   products at once   %a                  %b
//   VNNI, NEON dotprod    4 of bytes         as it is            [j/w][k/4][w][4]
//   AVX2, AVX-512BW       2 of i16           i16[i][k/2][2]      i16[j/w][k/2][w][2]
//
// The sum's extent has to be constant. Products inside of groups that run row
// by row, those of bf16 (lowering widens it in a dispatch before) and those for
// GPUs are not made so by default.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_DOT_RULE_H_
#define EMBER_JIT_SCHEDULE_DOT_RULE_H_

#include <string>

#include "jit/schedule/model_rules.h"
#include "jit/schedule/register_tile.h"

namespace ember::schedule {

// Brings both factors into the layout, each in a stage of its own but where it
// has it, and splits the loop that is then to be tensorized from the product's
// others: its name. Empty where the product is none, or the CPU has nothing for
// it: then nothing is changed. The product's loops are its axes still.
std::string PackForDots(const jit::CpuModel& cpu, const std::string& product,
                        const RegisterTile& tile, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_DOT_RULE_H_

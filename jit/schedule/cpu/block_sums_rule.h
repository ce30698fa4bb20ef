// Schedules products whose weights have a scale for each block of the sum:
//
//   %t[m, n, b] = sum(l < 32) i32(%x[m, b, l]) * i32(%w[n, b, l])
//   %y[m, n] = sum(b < 64) f32(%t[m, n, b]) * (%xs[m, b] * %ws[n, b])
//
// These are the weights of language models. A tile of results loops over the
// blocks. The sums of one block, %t, stay in registers. Lanes run along n. So
// %w and %ws are packed such that the rows n of a tile's vectors are next to
// each other.
//
// Weights of a few bits remain packed: %w may be an expression such as
//
//   i32((%bytes[n, b, l] >> (h * 4)) & 15)           with a sum over h < 2 too
//
// whose bytes are unpacked in registers (jit/loops/analysis/dot_factor.h), also
// from several buffers, such as the lower and the upper bits of numbers of six
// bits. %ws may be computed from integers and a factor of several blocks. So a
// product by one row reads each weight once, in the form that it has in memory.
// Products by many rows unpack it once for each tile of rows.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_BLOCK_SUMS_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_BLOCK_SUMS_RULE_H_

#include <optional>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// A sum over blocks (`total`), and the stage that sums up the products of each
// block (`product`).
struct BlockSum {
  StageRef total;    // %y above
  StageRef product;  // %t above
  int n = 0;         // number of the spatial axis of `total` and `product`
                     // along which lanes run
  int m = -1;  // number of the spatial axis of `total` and `product` along
               // which a tile has rows; -1: none
};

// Returns the block sum that the stage `total` computes; nullopt if it computes
// no such sum. No primitive may have changed the stage or its product.
std::optional<BlockSum> BlockSumOf(const jit::CpuModel& cpu,
                                   const Schedule& schedule,
                                   const StageRef& total);

// Schedules the total and the product. Returns false, and changes nothing, if
// the sum does not fit the rule or a primitive is refused.
bool ScheduleBlockSum(const jit::CpuModel& cpu, const BlockSum& sum,
                      ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_BLOCK_SUMS_RULE_H_

// Products of narrow numbers as dot loops (tensorize), on register tiles.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])     u8 by i8
//
//   CPU                   products at once   %a                  %b
//   VNNI, NEON dotprod    4 of bytes         as it is            [j/w][k/4][w][4]
//   AVX2, AVX-512BW       2 of i16           i16[i][k]           i16[j/w][k/2][w][2]
//    %b constant in -64..64: 4 of bytes      as it is            [j/w][k/4][w][4]
//   AVX512-BF16           2 of bf16          as it is            [j/w][k/2][w][2]
//
// Quantizers can make weights in -64..64 for machines without VNNI ("reduced
// range"). Products of u8 by such weights are added in pairs in 16 bits, which
// they fit: three instructions for 32 products instead of four, and operands of
// half the size (networks with such weights take 0.69 to 0.76 of the time of
// 16-bit integers; Zen 3, one thread). Larger weights could saturate there, as
// they do in ONNX Runtime; one pair of them in a matrix is enough. With i8
// instead of u8, changing the sign would take the fourth instruction again.
//
// If %a is padded, or if the number of products at once does not divide the
// sum's extent, a copy of %a contains the zeros. Sums of bf16 on AVX512-BF16
// round as vdpbf16ps does: products of two neighbours are added without
// rounding in between, and subnormals count as zero. The error of a sum of n
// products is below n * 2^-24 of the sum of their magnitudes, as with f32 in
// another order, plus n * 2^-126.
//
// The sum's extent has to be constant. Grouped convolutions get dot loops if
// their weights are constants (split_dims.h). Products inside groups of stages
// that run row by row do not. GPUs: jit/schedule/gpu/dot_rule.h.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_CPU_DOT_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_DOT_RULE_H_

#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/cpu/register_tile.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

struct Dots {
  std::optional<LoopRef> loop;   // the loop over the products of one dot
                                 // instruction, which is to be tensorized;
                                 // nullopt if there is none
  std::vector<StageRef> copies;  // the stages that copy %a; their loops are not
                                 // scheduled yet
};

// Brings both factors into the layout in the table at the top of this file,
// each by a stage of its own unless it has the layout already. Also splits off
// the loop that is then to be tensorized. Changes nothing if the stage is no
// product of narrow numbers, if the CPU has no instruction for it, if factor b
// moves along the tile's rows or its bits are spread over several buffers, or
// if a primitive is refused. The product's loops must still be its axes.
Dots PackForDots(const jit::CpuModel& cpu, const StageRef& product,
                 const RegisterTile& tile, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_DOT_RULE_H_

// Products of bytes on GPUs as dot loops (tensorize): four neighbours along the
// sum are a word, which is loaded, copied to shared memory and multiplied as a
// whole.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])     u8 by i8, v = j
//
//   %a   as it is, because its bytes are contiguous along k
//   %b   [k/4][j][4]: words of neighbours along j are contiguous
//
// A factor that moves along v and has the sum innermost already is read as it
// is, unless it is a constant. If four does not divide the sum, zeros extend it
// (pad). The sum's extent has to be constant.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_DOT_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_DOT_RULE_H_

#include <cstdint>
#include <optional>
#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

struct GpuDots {
  int64_t count = 4;  // number of bytes of a word, which one instruction
                      // multiplies
  int axis = 0;       // number of the stage's axis over which the sum runs
  LoopRef steps;      // the loop over the words of that axis, the steps of the
                      // sum
  LoopRef dot;        // the loop over the bytes of a word, which is to be
                      // tensorized
};

// Brings both factors into the layout that the top of this file describes, each
// by a scheduled stage of its own unless it has the layout already, and splits
// the sum. The product's other loops are still its axes. The copies are added
// to `done`. Returns nullopt, without a change, if the stage is no product of
// bytes, if the bits of factor b are spread over several buffers, if the device
// has no fast instructions for bytes, or if a primitive is refused.
std::optional<GpuDots> PackForDotsOnGpu(const jit::GpuModel& gpu,
                                        const StageRef& product, int v,
                                        std::set<StageRef>& done,
                                        ScheduleWriter& writer);

// Returns the stride with which the words that the load reads move along an
// axis.
Stride StrideOfWords(const Computation& c, const StageShape& shape, NodeId load,
                     int axis, const GpuDots& dots);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_DOT_RULE_H_

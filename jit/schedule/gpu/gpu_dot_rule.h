// Products of bytes on GPUs as dot loops (tensorize): four neighbours along the
// sum lie in a word, which is loaded, kept in shared memory and multiplied as
// one.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])     u8 by i8, v = j
//
//   %a   as it is, as its bytes lie along k
//   %b   [k/4][j][4]: words of neighbours along j lie together
//
// A factor that moves along v and is packed already with the sum innermost is
// read as it is, if it is no constant. Where four does not divide the sum, it
// runs on over zeros (pad). The sum's extent has to be constant.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_DOT_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_DOT_RULE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

struct GpuDots {
  int64_t count = 4;  // bytes of a word
  int axis = 0;       // of the stage: the sum
  std::string steps;  // the loop over its words
  std::string dot;    // over the bytes of one: to be tensorized
};

// Brings both factors into the layout, each in a stage of its own but where it
// has it, which is scheduled; and splits the sum. The product's other loops are
// its axes still, and the copies are in `done`. nullopt where the product is
// none, or the device has no fast instructions: nothing is changed then.
std::optional<GpuDots> PackForDotsOnGpu(const jit::GpuModel& gpu,
                                        const std::string& product, int v,
                                        std::set<std::string>& done,
                                        ScheduleWriter& writer);

// How the words that a load reads move with an axis.
Stride StrideOfWords(const Computation& c, const StageShape& shape, NodeId load,
                     int axis, const GpuDots& dots);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_DOT_RULE_H_

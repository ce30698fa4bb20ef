// Vectorizes stages that are no products. A part of the default schedule for
// CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_

#include <optional>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// An axis of a stage whose loop was split. `inner`: the inner loop, along which
// lanes may run.
struct SplitAxis {
  int axis = 0;
  LoopRef inner;
};

// The part of a stage that is computed at once, if it is not the whole stage.
struct LanePart {
  // the only axis of the stage whose loop was split, if there is one
  std::optional<SplitAxis> split;
  // Number of points of the part along the stage's last axis; nullopt if the
  // part has all of them.
  std::optional<int64_t> points;
};

// Chooses and schedules the lanes of a stage that is no product. Lanes run
// along an axis that is not among the axes that its group has in common.
void ScheduleLanes(const jit::CpuModel& cpu, const StageRef& stage,
                   const CommonAxes& common, ScheduleWriter& writer,
                   const LanePart& part = {});

// Returns how many of `count` vectors along an axis a reduction over other axes
// computes side by side: at most 4, and 1 if no such number is suitable. These
// share the tests for padding, and their additions do not wait for each other.
int64_t VectorsSideBySide(int64_t count);

// Splits the loop into vectors of `lanes` lanes, and computes `vectors` of them
// side by side, as the innermost loops of the stage. Returns false, without a
// change, if `vectors` is less than 2 or the split is refused.
bool SplitVectorsSideBySide(const LoopRef& axis, int64_t lanes, int64_t vectors,
                            ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_

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

// An axis whose loop was split. Lanes may run along the inner loop.
struct SplitAxis {
  int axis = 0;
  LoopRef inner;
};

// The part of a stage that is computed together.
struct LanePart {
  // The stage's only axis whose loop was split, if there is one.
  std::optional<SplitAxis> split;
  // Number of points along the last axis; absent if these are all.
  std::optional<int64_t> points;
};

// Chooses and schedules the lanes of a stage that is no product, along axes
// that are not among its group's common axes.
void ScheduleLanes(const jit::CpuModel& cpu, const StageRef& stage,
                   const CommonAxes& common, ScheduleWriter& writer,
                   const LanePart& part = {});

// Returns the number of vectors that a reduction over other axes computes side
// by side, of `count` vectors along an axis. They share the tests for padding,
// and no vector waits for another one's results.
int64_t VectorsSideBySide(int64_t count);

// Schedules the loop in vectors of `lanes` lanes, `vectors` of them side by
// side; all of them are inside the stage's other loops. False, without a
// change, if they do not fit the stage.
bool SplitVectorsSideBySide(const LoopRef& axis, int64_t lanes, int64_t vectors,
                            ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_


#include "jit/schedule/primitives/primitives.h"

#include <algorithm>
#include <set>
#include <variant>

#include "jit/schedule/core/attached_stages.h"
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"

namespace ember::schedule {
namespace {

// True if the stage is not attached to a loop, and no stage is attached to one
// of its loops.
bool IsAlone(const Schedule& schedule, int stage) {
  if (schedule.plan(stage).attach_stage >= 0) return false;
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    if (schedule.plan(i).attach_stage == stage) return false;
  }
  return true;
}

// Checks the rules for marked loops and folds, which concern a single stage.
Status CheckStage(const Schedule& schedule, int stage) {
  EMBER_RETURN_IF_ERROR(CheckMarkedLoops(schedule, stage));
  EMBER_RETURN_IF_ERROR(CheckDots(schedule, stage));
  EMBER_RETURN_IF_ERROR(CheckMatrixLoops(schedule, stage));
  return CheckFolds(schedule, stage);
}

}  // namespace

Status CheckUnchanged(const Schedule& schedule, int number,
                      std::string_view primitive) {
  const Computation& c = schedule.computation();
  const StagePlan& plan = schedule.plan(number);
  const bool is_changed = plan.attach_stage >= 0 ||
                          plan.loops.size() != c.stages[number].axes.size() ||
                          std::ranges::any_of(plan.loops, [](const Loop& loop) {
                            return loop.mark != LoopMark::kSerial;
                          });
  if (is_changed) {
    return FailedPreconditionError(
        "the stage's loops have been changed already: " +
        std::string(primitive) + " it first");
  }
  for (size_t i = 0; i < c.stages.size(); ++i) {
    if (schedule.plan(static_cast<int>(i)).attach_stage != number) continue;
    return FailedPreconditionError("%" + c.stages[i].name +
                                   " is computed in a loop of the stage");
  }
  return OkStatus();
}

bool KeepsRounding(const Schedule& schedule) {
  if (!schedule.primitives_keep_rounding()) return false;
  // Dot loops and matrix loops of floats may treat subnormal numbers as zero,
  // so they do not keep rounding.
  const Computation& c = schedule.computation();
  for (size_t i = 0; i < c.stages.size(); ++i) {
    const StagePlan& plan = schedule.plan(static_cast<int>(i));
    const bool has_dots = std::ranges::any_of(plan.loops, [](const Loop& loop) {
      return loop.mark == LoopMark::kDot || loop.mark == LoopMark::kMatrix;
    });
    if (has_dots && IsFloat(c.pool[c.stages[i].values[0]].type)) return false;
  }
  return true;
}

Status Run(const Step& step, Schedule& schedule) {
  EMBER_RETURN_IF_ERROR(std::visit(
      [&](const auto& primitive) { return Change(primitive, schedule); },
      step));
  // A step that changes only the loops of a stage without attachments cannot
  // break the rules of other stages, so these are not checked again. Checking
  // all stages after each step would be slow in a schedule of a thousand
  // stages.
  if (InfoOf(step).changes_loops_only) {
    EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, StageOf(step)));
    if (IsAlone(schedule, stage)) return CheckStage(schedule, stage);
  }
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i)
    EMBER_RETURN_IF_ERROR(CheckStage(schedule, i));
  EMBER_RETURN_IF_ERROR(CheckAttachments(schedule));
  EMBER_RETURN_IF_ERROR(CheckPartsAreOwn(schedule));
  return CheckDoubleBuffers(schedule);
}

StatusOr<int> Find(const Schedule& schedule, const StageRef& stage) {
  const int number = schedule.computation().FindStage(stage.name);
  if (number < 0) {
    return InvalidArgumentError("expected a stage, found '" + ToText(stage) +
                                "'");
  }
  return number;
}

StatusOr<uint32_t> Find(const Schedule& schedule, const BufferRef& buffer) {
  const int number = schedule.computation().FindBuffer(buffer.name);
  if (number < 0) {
    return InvalidArgumentError("expected a buffer, found '%" + buffer.name +
                                "'");
  }
  return static_cast<uint32_t>(number);
}

StatusOr<int> Find(const Schedule& schedule, int stage, const LoopRef& loop) {
  const std::string& name = schedule.computation().stages[stage].name;
  const bool is_of_stage = loop.stage.name == name;
  const int number =
      is_of_stage ? schedule.plan(stage).FindLoop(loop.name) : -1;
  if (number < 0) {
    return InvalidArgumentError(
        "expected a loop of %" + name + ", found '" + loop.name + "'" +
        (is_of_stage ? "" : " of " + ToText(loop.stage)));
  }
  return number;
}

Status CheckFactor(int64_t number) {
  if (number >= 1 && number <= tensor::kMaxExtent) return OkStatus();
  return InvalidArgumentError("expected a factor of 1 or more, found '" +
                              std::to_string(number) + "'");
}

Status CheckNewLoopNames(const StagePlan& plan,
                         std::initializer_list<std::string> names) {
  std::set<std::string> taken;
  for (const Loop& loop : plan.loops) taken.insert(loop.name);
  for (const std::string& name : names) {
    if (!tensor::IsPlainName(name))
      return InvalidArgumentError("expected a name, found '" + name + "'");
    if (!taken.insert(name).second)
      return InvalidArgumentError("the stage already has a loop '" + name +
                                  "'");
  }
  return OkStatus();
}

}  // namespace ember::schedule

// Schedules of the C API for kernels.
#include <cstddef>
#include <optional>
#include <utility>

#include "jit/kernel/build_nest.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/registry/backends.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/te_api/objects.h"
#include "jit/te_api/targets.h"

namespace ember::te_api {
namespace {

using schedule::LoopMark;

const char* NameOf(LoopMark mark) {
  switch (mark) {
    case LoopMark::kSerial:
      return "serial";
    case LoopMark::kParallel:
      return "parallel";
    case LoopMark::kUnrolled:
      return "unrolled";
    case LoopMark::kVector:
      return "vector";
    case LoopMark::kInvocation:
      return "invocation";
    case LoopMark::kDot:
      return "dot";
    case LoopMark::kSubgroup:
      return "subgroup";
    case LoopMark::kMatrix:
      return "matrix";
  }
  return "";
}

StatusOr<EmberTeSchedule*> Create(const EmberTeDispatch& dispatch,
                                  const char* default_target) {
  vm::KernelRequest request;
  request.dispatch = &dispatch.data->dispatch;
  EMBER_ASSIGN_OR_RETURN(schedule::Computation computation,
                         jit::ComputationOf(request));
  // Outputs of this API never share memory with inputs (AddOutputs in call.cc
  // checks it), so no buffer is overwritten in place.
  for (schedule::ComputationBuffer& buffer : computation.buffers)
    buffer.may_be_overwritten = false;
  if (default_target == nullptr) {
    return new EmberTeSchedule{
        dispatch.data, schedule::Schedule(std::move(computation)), "", ""};
  }
  EMBER_ASSIGN_OR_RETURN(const std::string target, TargetText(default_target));
  schedule::Normalise(computation);
  schedule::Schedule made(std::move(computation));
  EMBER_RETURN_IF_ERROR(jit::BackendFor(target).schedule(target, {}, made));
  return new EmberTeSchedule{dispatch.data, std::move(made), "", ""};
}

Status NotFound(std::string_view what, size_t count, int32_t index) {
  return NotFoundError(
      Concat({what, ": expected an index below ", count, ", found ", index}));
}

StatusOr<size_t> StageAt(const schedule::Schedule& schedule, int32_t index) {
  const size_t count = schedule.computation().stages.size();
  if (index >= 0 && static_cast<size_t>(index) < count)
    return static_cast<size_t>(index);
  return NotFound("stage", count, index);
}

Status DescribeStage(const schedule::Schedule& schedule, int32_t index,
                     EmberTeStageInfo* info) {
  EMBER_ASSIGN_OR_RETURN(const size_t at, StageAt(schedule, index));
  const schedule::StagePlan& plan = schedule.plan(static_cast<int>(at));
  const auto& stages = schedule.computation().stages;
  const char *stage = "", *loop = "";
  if (plan.attach_stage >= 0) {
    stage = stages[static_cast<size_t>(plan.attach_stage)].name.c_str();
    loop = schedule.plan(plan.attach_stage)
               .loops[static_cast<size_t>(plan.attach_loop)]
               .name.c_str();
  }
  Fill<EmberTeStageInfo>({sizeof(EmberTeStageInfo), stages[at].name.c_str(),
                          static_cast<int32_t>(plan.order.size()), stage, loop},
                         info);
  return OkStatus();
}

Status DescribeLoop(const schedule::Schedule& schedule, int32_t stage,
                    int32_t index, EmberTeLoopInfo* info) {
  EMBER_ASSIGN_OR_RETURN(const size_t at, StageAt(schedule, stage));
  const schedule::StagePlan& plan = schedule.plan(static_cast<int>(at));
  if (index < 0 || static_cast<size_t>(index) >= plan.order.size())
    return NotFound("loop", plan.order.size(), index);
  const int number = plan.order[static_cast<size_t>(index)];
  const schedule::Computation& computation = schedule.computation();
  const std::optional<int64_t> extent =
      plan.IterationsOf(number, [&](int axis) {
        return computation.pool.IntegerConstant(
            computation.stages[at].axes[static_cast<size_t>(axis)].extent);
      });
  const schedule::Loop& loop = plan.loops[static_cast<size_t>(number)];
  Fill<EmberTeLoopInfo>(
      {sizeof(EmberTeLoopInfo), loop.name.c_str(), extent.value_or(-1),
       NameOf(loop.mark), loop.is_reduction},
      info);
  return OkStatus();
}

}  // namespace

EmberStatus ScheduleCreate(const EmberTeDispatch* dispatch,
                           const char* default_target,
                           EmberTeSchedule** schedule) {
  if (schedule != nullptr) *schedule = nullptr;
  if (dispatch == nullptr || schedule == nullptr)
    return ReportNull("schedule_create");
  const auto created = Create(*dispatch, default_target);
  if (!created.ok()) return Report(created.status());
  *schedule = *created;
  return EMBER_OK;
}

EmberStatus ScheduleCopy(const EmberTeSchedule* schedule,
                         EmberTeSchedule** copy) {
  if (copy != nullptr) *copy = nullptr;
  if (schedule == nullptr || copy == nullptr)
    return ReportNull("schedule_copy");
  *copy = new EmberTeSchedule{schedule->data, schedule->schedule, "", ""};
  return EMBER_OK;
}

void ScheduleRelease(EmberTeSchedule* schedule) { delete schedule; }

EmberStatus ScheduleApply(EmberTeSchedule* schedule, const char* line) {
  if (schedule == nullptr || line == nullptr)
    return ReportNull("schedule_apply");
  return Report(schedule::Apply(std::string_view(line), schedule->schedule));
}

EmberStatus ScheduleReplay(EmberTeSchedule* schedule, const char* text) {
  if (schedule == nullptr || text == nullptr)
    return ReportNull("schedule_replay");
  return Report(schedule::Replay(text, schedule->schedule));
}

const char* ScheduleText(EmberTeSchedule* schedule) {
  if (schedule == nullptr) return "";
  schedule->text = schedule->schedule.ToText();
  return schedule->text.c_str();
}

EmberStatus ScheduleNest(EmberTeSchedule* schedule, const char** text) {
  if (schedule == nullptr || text == nullptr)
    return ReportNull("schedule_nest");
  const auto nest = schedule::Lower(schedule->schedule);
  if (!nest.ok()) return Report(nest.status());
  schedule->nest = loops::ToText(*nest);
  *text = schedule->nest.c_str();
  return EMBER_OK;
}

EmberStatus ScheduleStage(EmberTeSchedule* schedule, int32_t index,
                          EmberTeStageInfo* info) {
  if (schedule == nullptr || info == nullptr)
    return ReportNull("schedule_stage");
  return Report(DescribeStage(schedule->schedule, index, info));
}

EmberStatus ScheduleLoop(EmberTeSchedule* schedule, int32_t stage,
                         int32_t index, EmberTeLoopInfo* info) {
  if (schedule == nullptr || info == nullptr)
    return ReportNull("schedule_loop");
  return Report(DescribeLoop(schedule->schedule, stage, index, info));
}

}  // namespace ember::te_api


#include "jit/schedule/core/schedule.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"

namespace ember::schedule {

StagePlan DefaultPlan(const ComputationStage& stage) {
  StagePlan plan;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    Loop loop;
    loop.name = stage.axes[i].name;
    loop.axis = static_cast<int>(i);
    loop.is_reduction = static_cast<int>(i) >= stage.spatial_count;
    plan.loops.push_back(std::move(loop));
    plan.order.push_back(static_cast<int>(i));
  }
  return plan;
}

int StagePlan::FindLoop(std::string_view name) const {
  for (int loop : order) {
    if (loops[loop].name == name) return loop;
  }
  return -1;
}

int StagePlan::PositionOf(int loop) const {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == loop) return static_cast<int>(i);
  }
  return -1;
}

bool StagePlan::MultipliesMatrices() const {
  return std::ranges::any_of(
      loops, [](const Loop& loop) { return loop.mark == LoopMark::kMatrix; });
}

std::optional<int64_t> StagePlan::IterationsOf(
    int loop,
    const std::function<std::optional<int64_t>(int axis)>& of_axis) const {
  const Loop& at = loops[loop];
  switch (at.origin) {
    case Loop::Origin::kAxis:
      return of_axis(at.axis);
    case Loop::Origin::kInner:
      return at.factor;
    case Loop::Origin::kOuter: {
      const auto whole = IterationsOf(at.parent, of_axis);
      if (!whole) return std::nullopt;
      return DivideRoundingUp(*whole, at.factor);
    }
    case Loop::Origin::kFused: {
      const auto outer = IterationsOf(at.parent, of_axis);
      const auto inner = IterationsOf(at.second, of_axis);
      if (!outer || !inner) return std::nullopt;
      return *outer * *inner;
    }
  }
  return std::nullopt;
}

Schedule::Schedule(Computation computation)
    : computation_(std::move(computation)) {
  for (const ComputationStage& stage : computation_.stages)
    plans_.push_back(DefaultPlan(stage));
}

void Schedule::InsertStage(int before, ComputationStage stage) {
  for (StagePlan& plan : plans_) {
    if (plan.attach_stage >= before) ++plan.attach_stage;
  }
  plans_.insert(plans_.begin() + before, DefaultPlan(stage));
  computation_.stages.insert(computation_.stages.begin() + before,
                             std::move(stage));
}

void Schedule::RemoveStage(int stage) {
  plans_.erase(plans_.begin() + stage);
  computation_.stages.erase(computation_.stages.begin() + stage);
  for (StagePlan& plan : plans_) {
    if (plan.attach_stage > stage) --plan.attach_stage;
  }
}

void Schedule::Record(Step step) {
  steps_.push_back(std::make_shared<const Step>(std::move(step)));
}

bool Schedule::primitives_keep_rounding() const {
  return std::ranges::all_of(
      steps_, [](const auto& step) { return InfoOf(*step).keeps_rounding; });
}

double Schedule::ErrorGrowth() const {
  double growth = 1;
  for (const auto& step : steps_)
    growth = std::max(growth, InfoOf(*step).error_growth);
  return growth;
}

std::string Schedule::ToText() const {
  std::string text = "schedule @" + computation_.name + " {\n";
  for (const auto& step : steps_) text += "  " + schedule::ToText(*step) + "\n";
  return text + "}\n";
}

}  // namespace ember::schedule


#include "jit/schedule/cpu/dot_rule.h"

#include <optional>

#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/rules/dot_plan.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Returns the factor's dims as operands of the primitive `pack`: the digit of
// the reduction that a dot instruction adds up is last.
std::string LayoutOf(const DotPlan::Factor& factor, const DotPlan& plan,
                     int64_t width) {
  const std::string count = std::to_string(plan.count);
  const std::string step = std::to_string(factor.step_dim);
  const std::string vector = std::to_string(factor.vector_dim);
  std::string text = plan.type;
  if (&factor == &plan.b) text += plan.range;
  if (width > 0) text += " " + vector + "/" + std::to_string(width);
  text += OtherDims(factor, width > 0) + " " + step + "/" + count;
  if (width > 0) text += " " + vector + "%" + std::to_string(width);
  return text + " " + step + "%" + count;
}

}  // namespace

Dots PackForDots(const jit::CpuModel& cpu, const std::string& product,
                 const RegisterTile& tile, ScheduleWriter& writer) {
  std::optional<DotPlan> plan;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    plan = PlanDots(writer.computation(), shape, tile.v,
                    {.bytes = cpu.has_byte_dots,
                     .small = cpu.has_small_byte_dots,
                     .shorts = cpu.has_short_dots,
                     .bfloats = cpu.has_bfloat_dots});
    if (plan && tile.u >= 0 &&
        shape.StrideOf(plan->b.load, tile.u) != Stride::kNone) {
      return {};
    }
  }
  if (!plan) return {};
  const Schedule before = writer.schedule();
  Dots dots;
  const auto give_up = [&] {
    writer.Replace(before);
    return Dots();
  };
  const std::string count = std::to_string(plan->count);
  if (!plan->is_exact &&
      !writer.Try("pad %" + product + " " + plan->axis_name + " " + count)) {
    return give_up();
  }
  const auto copy = [&](const DotPlan::Factor& factor,
                        const std::string& line) {
    const std::string name = factor.buffer + ".packed";
    if (!writer.Try(line + " -> " + name)) return false;
    ScheduleLanes(cpu, name, {}, writer);
    return true;
  };
  const DotPlan::Factor &a = plan->a, &b = plan->b;
  if (!copy(b, "pack %" + product + " %" + b.buffer +
                   LayoutOf(b, *plan, tile.width()))) {
    return give_up();
  }
  if (!b.is_constant) ScheduleTasks(cpu, b.buffer + ".packed", writer);
  const bool is_of_type = plan->type.empty() || a.type == DType::kI16;
  if (a.LiesAlong()) {
    // The layout of operand a is not changed. A copy is made only if the
    // operand must be padded or needs another type.
    if (a.is_padded || !plan->is_exact || !is_of_type) {
      if (!copy(a, "cache_read %" + product + " %" + a.buffer + plan->type))
        return give_up();
      dots.copies.push_back(a.buffer + ".packed");
    }
  } else {
    if (!copy(a, "pack %" + product + " %" + a.buffer + LayoutOf(a, *plan, 0)))
      return give_up();
    if (!a.is_constant) ScheduleTasks(cpu, a.buffer + ".packed", writer);
  }
  dots.loop = plan->axis_name + "_dot";
  writer.Do("split %" + product + " " + plan->axis_name + " " + count + " -> " +
            plan->axis_name + "_step " + dots.loop);
  return dots;
}

}  // namespace ember::schedule

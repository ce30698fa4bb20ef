
#include "jit/schedule/cpu/dot_rule.h"

#include <optional>
#include <vector>

#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/rules/dot_plan.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Returns the dims of a copy of the factor for dot instructions: the `count`
// elements of the reduction that one instruction adds up are the last dim.
// `width`: number of results in a tile's vectors, if the factor moves along
// them; otherwise 0.
std::vector<LayoutDim> LayoutOf(const DotPlan::Factor& factor, int64_t count,
                                int64_t width) {
  using enum LayoutDim::Part;
  std::vector<LayoutDim> layout;
  if (width > 0) layout.push_back({factor.vector_dim, kQuotient, width});
  for (const LayoutDim& dim : OtherDims(factor, width > 0))
    layout.push_back(dim);
  layout.push_back({factor.step_dim, kQuotient, count});
  if (width > 0) layout.push_back({factor.vector_dim, kRemainder, width});
  layout.push_back({factor.step_dim, kRemainder, count});
  return layout;
}

}  // namespace

Dots PackForDots(const jit::CpuModel& cpu, const StageRef& product,
                 const RegisterTile& tile, ScheduleWriter& writer) {
  std::optional<DotPlan> plan;
  {
    const StageShape shape(writer.computation(), writer.NumberOf(product));
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
  if (!plan || !plan->more_b.empty()) return {};
  const Schedule before = writer.schedule();
  Dots dots;
  const auto give_up = [&] {
    writer.Replace(before);
    return Dots();
  };
  if (!plan->is_exact && !writer.Try(PadReduction{.loop = plan->reduction,
                                                  .factor = plan->count})) {
    return give_up();
  }
  const auto try_copy = [&](const Step& step, const StageRef& copy) {
    if (!writer.Try(step)) return false;
    ScheduleLanes(cpu, copy, {}, writer);
    return true;
  };
  const DotPlan::Factor &a = plan->a, &b = plan->b;
  const StageRef copy_a{a.buffer.name + ".packed"},
      copy_b{b.buffer.name + ".packed"};
  if (!try_copy(Pack{.reader = product,
                     .buffer = b.buffer,
                     .type = plan->type,
                     .range = plan->range,
                     .layout = LayoutOf(b, plan->count, tile.width()),
                     .copy = copy_b.name},
                copy_b)) {
    return give_up();
  }
  if (!b.is_constant) ScheduleTasks(cpu, copy_b, writer);
  const bool is_of_type = !plan->type || a.type == DType::kI16;
  if (a.LiesAlong()) {
    // The dims of operand a keep their order. A copy is made only to pad the
    // operand or to change its type.
    if (a.is_padded || !plan->is_exact || !is_of_type) {
      if (!try_copy(CacheRead{.reader = product,
                              .buffer = a.buffer,
                              .type = plan->type,
                              .copy = copy_a.name},
                    copy_a)) {
        return give_up();
      }
      dots.copies.push_back(copy_a);
    }
  } else {
    if (!try_copy(Pack{.reader = product,
                       .buffer = a.buffer,
                       .type = plan->type,
                       .layout = LayoutOf(a, plan->count, 0),
                       .copy = copy_a.name},
                  copy_a)) {
      return give_up();
    }
    if (!a.is_constant) ScheduleTasks(cpu, copy_a, writer);
  }
  dots.loop = writer.Split(plan->reduction, plan->count, "_step", "_dot").inner;
  return dots;
}

}  // namespace ember::schedule

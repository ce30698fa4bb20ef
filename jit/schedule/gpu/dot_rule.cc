
#include "jit/schedule/gpu/dot_rule.h"

#include <vector>

#include "jit/schedule/rules/dot_plan.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Returns the layout of the factor's copy. The last dim has the bytes of a
// word.
std::vector<LayoutDim> LayoutOf(const DotPlan::Factor& factor,
                                const DotPlan& plan, bool is_b) {
  using enum LayoutDim::Part;
  std::vector<LayoutDim> layout = OtherDims(factor, is_b);
  layout.push_back(
      {.dim = factor.step_dim, .part = kQuotient, .factor = plan.count});
  if (is_b) layout.push_back({.dim = factor.vector_dim});
  layout.push_back(
      {.dim = factor.step_dim, .part = kRemainder, .factor = plan.count});
  return layout;
}

// Makes tasks of the copy's words, in which each invocation copies one word.
void ScheduleWords(const jit::GpuModel& gpu, const StageRef& copy,
                   ScheduleWriter& writer) {
  const std::vector<LoopRef> loops = writer.LoopsOf(copy);
  const LoopRef words = writer.FuseLoops(copy, 0, loops.size() - 1, "words");
  // The split's loops are named here, because `words` may be an original loop
  // of the copy, with any name.
  const LoopRef task{copy, "words_task"}, item{copy, "words_item"};
  writer.Do(Split{.loop = words,
                  .factor = gpu.workgroup_size,
                  .outer = task.name,
                  .inner = item.name});
  writer.Do(Parallel{task});
  writer.Do(Bind{item});
  writer.Do(Vectorize{loops.back()});
}

}  // namespace

std::optional<GpuDots> PackForDotsOnGpu(const jit::GpuModel& gpu,
                                        const StageRef& product, int v,
                                        std::set<StageRef>& done,
                                        ScheduleWriter& writer) {
  if (!gpu.has_dots) return std::nullopt;
  std::optional<DotPlan> plan;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.NumberOf(product));
    plan = PlanDots(c, shape, v, {.bytes = true});
    if (!plan || !plan->more_b.empty()) return std::nullopt;
  }
  const Schedule before = writer.schedule();
  const auto give_up = [&] {
    writer.Replace(before);
    return std::nullopt;
  };
  std::vector<StageRef> copies;
  const PadReduction padded{.loop = plan->reduction, .factor = plan->count};
  if (!plan->is_exact && !writer.Try(padded)) return give_up();
  for (const DotPlan::Factor* factor : {&plan->b, &plan->a}) {
    const bool is_b = factor == &plan->b;
    if (plan->is_exact && factor->LiesAlong() && !factor->is_padded &&
        !(is_b && factor->is_constant)) {
      continue;
    }
    const StageRef copy{factor->buffer.name + ".words"};
    const Pack packed{.reader = product,
                      .buffer = factor->buffer,
                      .layout = LayoutOf(*factor, *plan, is_b),
                      .copy = copy.name};
    if (!writer.Try(packed)) return give_up();
    ScheduleWords(gpu, copy, writer);
    copies.push_back(copy);
  }
  done.insert(copies.begin(), copies.end());
  const auto [word, dot] =
      writer.Split(plan->reduction, plan->count, "_word", "_dot");
  return GpuDots{
      .count = plan->count, .axis = plan->axis, .steps = word, .dot = dot};
}

Stride StrideOfWords(const Computation& c, const StageShape& shape, NodeId load,
                     int axis, const GpuDots& dots) {
  const tensor::Node& node = c.pool[load];
  const std::vector<NodeId>& extents = c.buffers[node.buffer].extents;
  const auto variable = [&](int number) {
    return shape.stage().axes[static_cast<size_t>(number)].variable;
  };
  const bool is_packed =
      node.opcode == tensor::Opcode::kLoad && extents.size() > 1 &&
      c.pool.IntegerConstant(extents.back()) == dots.count &&
      tensor::DependsOn(c.pool, node.operands.back(), variable(dots.axis));
  const Stride stride = shape.StrideOf(load, axis);
  if (!is_packed || stride == Stride::kNone) return stride;
  const NodeId last = node.operands[extents.size() - 2];
  const bool is_last =
      axis == dots.axis
          ? tensor::DependsOn(c.pool, last, variable(axis))
          : tensor::CoefficientOf(c.pool, last, variable(axis)) == 1;
  return is_last ? Stride::kUnit : Stride::kOther;
}

}  // namespace ember::schedule

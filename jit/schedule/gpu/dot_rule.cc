
#include "jit/schedule/gpu/dot_rule.h"

#include <vector>

#include "jit/schedule/rules/dot_plan.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Returns the factor's dims as operands of the primitive `pack`: the bytes of a
// word are the last dim.
std::string LayoutOf(const DotPlan::Factor& factor, const DotPlan& plan,
                     bool is_b) {
  const std::string count = std::to_string(plan.count);
  const std::string step = std::to_string(factor.step_dim);
  std::string text = OtherDims(factor, is_b) + " " + step + "/" + count;
  if (is_b) text += " " + std::to_string(factor.vector_dim);
  return text + " " + step + "%" + count;
}

// Schedules the copy's words as tasks, with one word per invocation.
void ScheduleWords(const jit::GpuModel& gpu, const std::string& copy,
                   ScheduleWriter& writer) {
  const std::vector<std::string> loops = writer.LoopsOf(copy);
  const std::string words =
      writer.FuseLoops(copy, 0, loops.size() - 1, "words");
  const std::string at = " %" + copy + " ";
  writer.Do("split" + at + words + " " + std::to_string(gpu.workgroup_size) +
            " -> words_task words_item");
  writer.Do("parallel" + at + "words_task");
  writer.Do("bind" + at + "words_item");
  writer.Do("vectorize" + at + loops.back());
}

}  // namespace

std::optional<GpuDots> PackForDotsOnGpu(const jit::GpuModel& gpu,
                                        const std::string& product, int v,
                                        std::set<std::string>& done,
                                        ScheduleWriter& writer) {
  if (!gpu.has_dots) return std::nullopt;
  std::optional<DotPlan> plan;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    plan = PlanDots(c, shape, v, {.bytes = true});
    if (!plan) return std::nullopt;
  }
  const Schedule before = writer.schedule();
  const auto give_up = [&] {
    writer.Replace(before);
    return std::nullopt;
  };
  const std::string& axis = plan->axis_name;
  std::vector<std::string> copies;
  const std::string count = std::to_string(plan->count);
  if (!plan->is_exact &&
      !writer.Try("pad %" + product + " " + axis + " " + count)) {
    return give_up();
  }
  for (const DotPlan::Factor* factor : {&plan->b, &plan->a}) {
    const bool is_b = factor == &plan->b;
    if (plan->is_exact && factor->LiesAlong() && !factor->is_padded &&
        !(is_b && factor->is_constant)) {
      continue;
    }
    const std::string copy = factor->buffer + ".words";
    if (!writer.Try("pack %" + product + " %" + factor->buffer +
                    LayoutOf(*factor, *plan, is_b) + " -> " + copy)) {
      return give_up();
    }
    ScheduleWords(gpu, copy, writer);
    copies.push_back(copy);
  }
  done.insert(copies.begin(), copies.end());
  GpuDots dots{.count = plan->count,
               .axis = plan->axis,
               .steps = axis + "_word",
               .dot = axis + "_dot"};
  writer.Do("split %" + product + " " + axis + " " + count + " -> " +
            dots.steps + " " + dots.dot);
  return dots;
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

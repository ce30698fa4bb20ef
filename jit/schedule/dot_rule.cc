#include "jit/schedule/dot_rule.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "jit/schedule/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

// What moves along the vectors (b), and what does not (a).
struct DotPlan {
  struct Factor {
    std::string buffer;
    DType type = DType::kI8;
    bool is_constant = false;
    size_t rank = 0;
    size_t step_dim = 0;    // whose index is the reduction
    size_t vector_dim = 0;  // of b: whose index is the vectors' axis
  };
  int64_t count = 4;
  int axis = 0;  // the reduction
  std::string axis_name;
  bool is_exact = true;  // count divides its extent
  Factor a, b;
};

std::optional<size_t> DimOf(const Node& load, NodeId axis) {
  const auto found = std::ranges::find(load.operands, axis);
  if (found == load.operands.end()) return std::nullopt;
  return static_cast<size_t>(found - load.operands.begin());
}

std::optional<DotPlan> PlanDots(const jit::CpuModel& cpu, const Computation& c,
                                const StageShape& shape,
                                const RegisterTile& tile) {
  const Node& product = c.pool[shape.stage().values[0]];
  if (product.opcode != Opcode::kMultiply || product.type != DType::kI32)
    return std::nullopt;
  std::vector<NodeId> loads;
  for (NodeId factor : product.operands) {
    const Node& cast = c.pool[factor];
    if (cast.opcode != Opcode::kCast) return std::nullopt;
    const Node& load = c.pool[cast.operands[0]];
    if (load.opcode != Opcode::kLoad) return std::nullopt;
    if (!IsByte(load.type) && load.type != DType::kI16) return std::nullopt;
    loads.push_back(cast.operands[0]);
  }
  if (loads[0] == loads[1] ||
      c.pool[loads[0]].buffer == c.pool[loads[1]].buffer)
    return std::nullopt;
  if (shape.StrideOf(loads[0], tile.v) != Stride::kNone)
    std::swap(loads[0], loads[1]);
  const Node &a = c.pool[loads[0]], &b = c.pool[loads[1]];
  if (shape.StrideOf(loads[0], tile.v) != Stride::kNone) return std::nullopt;
  if (tile.u >= 0 && shape.StrideOf(loads[1], tile.u) != Stride::kNone)
    return std::nullopt;
  DotPlan plan;
  const bool bytes = IsByte(a.type) && IsByte(b.type);
  if (bytes && cpu.has_byte_dots)
    plan.count = 4;
  else if (cpu.has_short_dots)
    plan.count = 2;
  else
    return std::nullopt;
  const auto vector_dim =
      DimOf(b, shape.stage().axes[static_cast<size_t>(tile.v)].variable);
  if (!vector_dim) return std::nullopt;
  const auto factor = [&](const Node& load, size_t step_dim) {
    const ComputationBuffer& buffer = c.buffers[load.buffer];
    return DotPlan::Factor{buffer.name,           load.type, buffer.is_constant,
                           buffer.extents.size(), step_dim,  *vector_dim};
  };
  // The last reduction that both run along.
  for (int axis = shape.axis_count(); axis-- > shape.spatial_count();) {
    const auto& reduction = shape.stage().axes[static_cast<size_t>(axis)];
    const auto dim_a = DimOf(a, reduction.variable);
    const auto dim_b = DimOf(b, reduction.variable);
    const std::optional<int64_t> extent = shape.Extent(axis);
    if (!dim_a || !dim_b || !extent || *extent < plan.count - 1) continue;
    plan.axis = axis;
    plan.axis_name = reduction.name;
    plan.is_exact = *extent % plan.count == 0;
    plan.a = factor(a, *dim_a);
    plan.b = factor(b, *dim_b);
    return plan;
  }
  return std::nullopt;
}

// "dim" of the factor's parts, the reduction's last.
std::string LayoutOf(const DotPlan::Factor& factor, const DotPlan& plan,
                     int64_t width) {
  const std::string count = std::to_string(plan.count);
  const std::string step = std::to_string(factor.step_dim);
  const std::string vector = std::to_string(factor.vector_dim);
  std::string text;
  if (plan.count == 2) text += " i16";
  if (width > 0) text += " " + vector + "/" + std::to_string(width);
  for (size_t d = 0; d < factor.rank; ++d) {
    if (d != factor.step_dim && (width == 0 || d != factor.vector_dim))
      text += " " + std::to_string(d);
  }
  text += " " + step + "/" + count;
  if (width > 0) text += " " + vector + "%" + std::to_string(width);
  return text + " " + step + "%" + count;
}

}  // namespace

std::string PackForDots(const jit::CpuModel& cpu, const std::string& product,
                        const RegisterTile& tile, ScheduleWriter& writer) {
  std::optional<DotPlan> plan;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    plan = PlanDots(cpu, writer.computation(), shape, tile);
  }
  if (!plan) return "";
  const Schedule before = writer.schedule();
  const auto give_up = [&] {
    writer.Replace(before);
    return std::string();
  };
  const std::string count = std::to_string(plan->count);
  if (!plan->is_exact &&
      !writer.Try("pad %" + product + " " + plan->axis_name + " " + count)) {
    return give_up();
  }
  // Bytes that lie along the sum are read as they are.
  const bool copies_a = !plan->is_exact ||
                        plan->a.step_dim + 1 != plan->a.rank ||
                        (plan->count == 2 && plan->a.type != DType::kI16);
  const DotPlan::Factor* const factors[] = {&plan->b, &plan->a};
  for (const DotPlan::Factor* factor : factors) {
    const bool is_a = factor == &plan->a;
    if (is_a && !copies_a) continue;
    const std::string copy = factor->buffer + ".packed";
    if (!writer.Try("pack %" + product + " %" + factor->buffer +
                    LayoutOf(*factor, *plan, is_a ? 0 : tile.width()) + " -> " +
                    copy)) {
      return give_up();
    }
    ScheduleLanes(cpu, copy, 0, writer);
    if (!factor->is_constant) ScheduleTasks(cpu, copy, writer);
  }
  const std::string dot = plan->axis_name + "_dot";
  writer.Do("split %" + product + " " + plan->axis_name + " " + count + " -> " +
            plan->axis_name + "_step " + dot);
  return dot;
}

}  // namespace ember::schedule

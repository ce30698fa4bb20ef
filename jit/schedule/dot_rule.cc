#include "jit/schedule/dot_rule.h"

#include <algorithm>
#include <optional>
#include <span>
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
    bool is_padded = false;
    size_t rank = 0;
    size_t step_dim = 0;    // whose index is the reduction
    size_t vector_dim = 0;  // of b: whose index is the vectors' axis
  };
  int64_t count = 4;
  std::string type;  // of copies of 16-bit integers: " i16"
  int axis = 0;      // the reduction
  std::string axis_name;
  bool is_exact = true;  // count divides its extent
  Factor a, b;
};

std::optional<size_t> DimOf(const Computation& c, const Node& load,
                            NodeId axis) {
  const auto indices =
      std::span(load.operands).first(c.buffers[load.buffer].extents.size());
  const auto found = std::ranges::find(indices, axis);
  if (found == indices.end()) return std::nullopt;
  return static_cast<size_t>(found - indices.begin());
}

// How many products of elements of the types there are at once; 0: none.
int64_t CountOf(const jit::CpuModel& cpu, DType a, DType b, DType sum) {
  if (sum == DType::kF32) {
    const bool is_bfloat = a == DType::kBF16 && b == DType::kBF16;
    return is_bfloat && cpu.has_bfloat_dots ? 2 : 0;
  }
  const auto is_short = [](DType type) {
    return IsByte(type) || type == DType::kI16;
  };
  if (sum != DType::kI32 || !is_short(a) || !is_short(b)) return 0;
  if (IsByte(a) && IsByte(b) && cpu.has_byte_dots) return 4;
  return cpu.has_short_dots ? 2 : 0;
}

std::optional<DotPlan> PlanDots(const jit::CpuModel& cpu, const Computation& c,
                                const StageShape& shape,
                                const RegisterTile& tile) {
  const Node& product = c.pool[shape.stage().values[0]];
  if (product.opcode != Opcode::kMultiply) return std::nullopt;
  std::vector<NodeId> loads;
  for (NodeId factor : product.operands) {
    const Node& cast = c.pool[factor];
    if (cast.opcode != Opcode::kCast) return std::nullopt;
    const Opcode load = c.pool[cast.operands[0]].opcode;
    if (load != Opcode::kLoad && load != Opcode::kPad) return std::nullopt;
    loads.push_back(cast.operands[0]);
  }
  if (loads[0] == loads[1] ||
      c.pool[loads[0]].buffer == c.pool[loads[1]].buffer)
    return std::nullopt;
  if (shape.StrideOf(loads[0], tile.v) != Stride::kNone)
    std::swap(loads[0], loads[1]);
  const Node &a = c.pool[loads[0]], &b = c.pool[loads[1]];
  if (b.opcode != Opcode::kLoad) return std::nullopt;
  if (shape.StrideOf(loads[0], tile.v) != Stride::kNone) return std::nullopt;
  if (tile.u >= 0 && shape.StrideOf(loads[1], tile.u) != Stride::kNone)
    return std::nullopt;
  DotPlan plan;
  plan.count = CountOf(cpu, a.type, b.type, product.type);
  if (plan.count == 0) return std::nullopt;
  if (plan.count == 2 && product.type == DType::kI32) plan.type = " i16";
  const auto vector_dim =
      DimOf(c, b, shape.stage().axes[static_cast<size_t>(tile.v)].variable);
  if (!vector_dim) return std::nullopt;
  const auto factor = [&](const Node& load, size_t step_dim) {
    const ComputationBuffer& buffer = c.buffers[load.buffer];
    return DotPlan::Factor{.buffer = buffer.name,
                           .type = load.type,
                           .is_constant = buffer.is_constant,
                           .is_padded = load.opcode == Opcode::kPad,
                           .rank = buffer.extents.size(),
                           .step_dim = step_dim,
                           .vector_dim = *vector_dim};
  };
  // The last reduction that both run along.
  for (int axis = shape.axis_count(); axis-- > shape.spatial_count();) {
    const auto& reduction = shape.stage().axes[static_cast<size_t>(axis)];
    const auto dim_a = DimOf(c, a, reduction.variable);
    const auto dim_b = DimOf(c, b, reduction.variable);
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
  std::string text = plan.type;
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

Dots PackForDots(const jit::CpuModel& cpu, const std::string& product,
                 const RegisterTile& tile, ScheduleWriter& writer) {
  std::optional<DotPlan> plan;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    plan = PlanDots(cpu, writer.computation(), shape, tile);
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
    ScheduleLanes(cpu, name, 0, writer);
    return true;
  };
  const DotPlan::Factor &a = plan->a, &b = plan->b;
  if (!copy(b, "pack %" + product + " %" + b.buffer +
                   LayoutOf(b, *plan, tile.width()))) {
    return give_up();
  }
  if (!b.is_constant) ScheduleTasks(cpu, b.buffer + ".packed", writer);
  const bool lies_along = a.step_dim + 1 == a.rank;
  const bool is_of_type = plan->type.empty() || a.type == DType::kI16;
  if (lies_along) {
    // As it is, but for padding and its type.
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

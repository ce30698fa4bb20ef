
#include "jit/schedule/rules/dot_plan.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "jit/loops/analysis/dot_factor.h"
#include "jit/loops/analysis/dot_product.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

std::optional<size_t> DimOf(const Computation& c, const Node& load,
                            NodeId axis) {
  const auto indices =
      std::span(load.operands).first(c.buffers[load.buffer].extents.size());
  const auto found = std::ranges::find(indices, axis);
  if (found == indices.end()) return std::nullopt;
  return static_cast<size_t>(found - indices.begin());
}

// True if the factor unpacks its numbers in the same way at all values of the
// axis: shifts and masks do not depend on it.
bool IsSameAlong(const tensor::ExpressionPool& pool,
                 const loops::DotFactor& factor, NodeId axis) {
  return std::ranges::none_of(loops::LeavesOf(pool, factor), [&](NodeId leaf) {
    return tensor::DependsOn(pool, leaf, axis);
  });
}

// Returns the number of products of these types that one instruction adds up; 0
// if there is no such instruction.
int64_t CountOf(DotCounts counts, DType a, DType b, DType sum) {
  if (sum == DType::kF32) {
    const bool is_bfloat = a == DType::kBF16 && b == DType::kBF16;
    return is_bfloat && counts.bfloats ? 2 : 0;
  }
  const auto is_short = [](DType type) {
    return IsByte(type) || type == DType::kI16;
  };
  if (sum != DType::kI32 || !is_short(a) || !is_short(b)) return 0;
  if (IsByte(a) && IsByte(b) && counts.bytes) return 4;
  return counts.shorts ? 2 : 0;
}

}  // namespace

std::optional<DotPlan> PlanDots(const Computation& c, const StageShape& shape,
                                int v, DotCounts counts) {
  const Node& product = c.pool[shape.stage().values[0]];
  if (product.opcode != Opcode::kMultiply) return std::nullopt;
  std::vector<loops::DotFactor> factors;
  for (NodeId operand : product.operands) {
    const auto factor = loops::DotFactorOf(c.pool, operand);
    if (!factor) return std::nullopt;
    factors.push_back(*factor);
  }
  NodeId loads[] = {factors[0].load, factors[1].load};
  if (loads[0] == loads[1] ||
      c.pool[loads[0]].buffer == c.pool[loads[1]].buffer)
    return std::nullopt;
  if (shape.StrideOf(loads[0], v) != Stride::kNone) {
    std::swap(loads[0], loads[1]);
    std::swap(factors[0], factors[1]);
  }
  if (factors[0].is_unpacked()) return std::nullopt;
  const Node &a = c.pool[loads[0]], &b = c.pool[loads[1]];
  if (b.opcode != Opcode::kLoad) return std::nullopt;
  if (shape.StrideOf(loads[0], v) != Stride::kNone) return std::nullopt;
  DotPlan plan;
  // True if factor b is a constant with bytes small enough for the instruction
  // that adds up 4 products without saturation.
  const bool is_small = !counts.bytes && counts.small &&
                        product.type == DType::kI32 && a.type == DType::kU8 &&
                        !factors[1].is_unpacked() &&
                        shape.ReadsSmallBytes(loads[1]);
  // True if factor b is unpacked from few bits, so that its numbers are small
  // enough whatever the signed bytes of a are.
  const bool is_few_bits =
      !counts.bytes && counts.small && product.type == DType::kI32 &&
      a.type == DType::kI8 && b.type == DType::kU8 &&
      c.pool[factors[1].value].range.Within({0, 2 * loops::kSmallByte - 1});
  plan.count = is_small || is_few_bits
                   ? 4
                   : CountOf(counts, a.type, b.type, product.type);
  if (plan.count == 0) return std::nullopt;
  if (is_small)
    plan.range = tensor::Interval{-loops::kSmallByte, loops::kSmallByte};
  if (plan.count == 2 && product.type == DType::kI32) plan.type = DType::kI16;
  // Only the instructions for four bytes take numbers that were unpacked in
  // registers.
  if (factors[1].is_unpacked() && plan.count != 4) return std::nullopt;
  const NodeId lanes = shape.stage().axes[static_cast<size_t>(v)].variable;
  const auto vector_dim = DimOf(c, b, lanes);
  if (!vector_dim) return std::nullopt;
  const auto factor = [&](NodeId id, size_t step_dim, size_t vector) {
    const Node& load = c.pool[id];
    const ComputationBuffer& buffer = c.buffers[load.buffer];
    return DotPlan::Factor{.load = id,
                           .buffer = {buffer.name},
                           .type = load.type,
                           .is_constant = buffer.is_constant,
                           .is_padded = load.opcode == Opcode::kPad,
                           .rank = buffer.extents.size(),
                           .step_dim = step_dim,
                           .vector_dim = vector};
  };
  // Returns the layouts of the remaining buffers of factor b, over which the
  // bits of its numbers are spread; nullopt if one of them lacks a dim.
  const auto others =
      [&](NodeId variable) -> std::optional<std::vector<DotPlan::Factor>> {
    std::vector<DotPlan::Factor> found;
    for (const NodeId id : factors[1].more_loads) {
      const auto step = DimOf(c, c.pool[id], variable),
                 vector = DimOf(c, c.pool[id], lanes);
      if (!step || !vector) return std::nullopt;
      found.push_back(factor(id, *step, *vector));
    }
    return found;
  };
  // Chooses the last reduction axis along which both factors move.
  for (int axis = shape.axis_count(); axis-- > shape.spatial_count();) {
    const auto& reduction = shape.stage().axes[static_cast<size_t>(axis)];
    const auto dim_a = DimOf(c, a, reduction.variable);
    const auto dim_b = DimOf(c, b, reduction.variable);
    const std::optional<int64_t> extent = shape.Extent(axis);
    if (!IsSameAlong(c.pool, factors[1], reduction.variable)) continue;
    if (!dim_a || !dim_b || !extent || *extent < plan.count - 1) continue;
    plan.axis = axis;
    plan.reduction = {{shape.stage().name}, reduction.name};
    plan.is_exact = *extent % plan.count == 0;
    auto more = others(reduction.variable);
    if (!more) continue;
    plan.a = factor(loads[0], *dim_a, *vector_dim);
    plan.b = factor(loads[1], *dim_b, *vector_dim);
    plan.more_b = *std::move(more);
    return plan;
  }
  return std::nullopt;
}

std::vector<LayoutDim> OtherDims(const DotPlan::Factor& factor,
                                 bool without_vector) {
  std::vector<LayoutDim> dims;
  for (size_t d = 0; d < factor.rank; ++d) {
    if (d == factor.step_dim || (without_vector && d == factor.vector_dim))
      continue;
    dims.push_back({.dim = d});
  }
  return dims;
}

}  // namespace ember::schedule

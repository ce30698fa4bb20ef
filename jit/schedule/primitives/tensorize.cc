// tensorize and pad: short sums of products become instructions of machines.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/loops/analysis/dot_factor.h"
#include "jit/loops/analysis/dot_product.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/simplify.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

bool IsAccess(const Node& node) {
  return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
}

// Returns the indices of a load: its operands without a Pad's default value.
std::span<const NodeId> IndicesOf(const Computation& c, NodeId access) {
  const Node& node = c.pool[access];
  return std::span(node.operands).first(c.buffers[node.buffer].extents.size());
}

// --- tensorize ---

// The elements that a dot loop combines: `count` neighbours along an axis.
struct DotLoop {
  NodeId axis = 0;
  int64_t count = 0;
};

std::optional<DotLoop> DotLoopOf(const Schedule& schedule, int stage,
                                 const Loop& loop) {
  const Computation& c = schedule.computation();
  const StagePlan& plan = schedule.plan(stage);
  const auto axis_of = [&](const Loop& of) -> const ComputationAxis* {
    return of.origin == Loop::Origin::kAxis ? &c.stages[stage].axes[of.axis]
                                            : nullptr;
  };
  if (loop.origin == Loop::Origin::kInner) {
    const ComputationAxis* axis = axis_of(plan.loops[loop.parent]);
    if (axis == nullptr) return std::nullopt;
    return DotLoop{axis->variable, loop.factor};
  }
  const ComputationAxis* axis = axis_of(loop);
  if (axis == nullptr) return std::nullopt;
  return DotLoop{axis->variable,
                 c.pool.IntegerConstant(axis->extent).value_or(0)};
}

// True if the load reads contiguous elements along its last dim while the dot
// loop runs.
bool LiesAlong(const Computation& c, NodeId load, const DotLoop& dot) {
  const std::span<const NodeId> indices = IndicesOf(c, load);
  if (indices.empty()) return false;
  const auto is_digit = [&](NodeId index, Opcode opcode) {
    const Node& node = c.pool[index];
    if (node.opcode != opcode || node.operands[0] != dot.axis) return false;
    const auto factor = c.pool.IntegerConstant(node.operands[1]);
    return factor && *factor % dot.count == 0;
  };
  for (size_t d = 0; d + 1 < indices.size(); ++d) {
    if (tensor::DependsOn(c.pool, indices[d], dot.axis) &&
        !is_digit(indices[d], Opcode::kFloorDivide)) {
      return false;
    }
  }
  if (is_digit(indices.back(), Opcode::kModulo)) return true;
  return tensor::CoefficientOf(c.pool, indices.back(), dot.axis) == 1;
}

Status CheckDotLoop(const Schedule& schedule, int number, int at) {
  const Computation& c = schedule.computation();
  const ComputationStage& stage = c.stages[number];
  const Loop& loop = schedule.plan(number).loops[at];
  const std::string name = "loop '" + loop.name + "' ";
  if (schedule.plan(number).order.back() != at)
    return FailedPreconditionError(name + "is not the innermost one");
  if (!loop.is_reduction)
    return FailedPreconditionError(name + "combines nothing");
  const std::optional<DotLoop> dot = DotLoopOf(schedule, number, loop);
  if (!dot || (dot->count != 2 && dot->count != 4)) {
    return FailedPreconditionError(
        name + "is not 2 or 4 neighbours of an axis: split it");
  }
  const bool is_product = stage.combiner == tensor::Combiner::kSum &&
                          stage.values.size() == 1 &&
                          c.pool[stage.values[0]].opcode == Opcode::kMultiply;
  if (!is_product)
    return FailedPreconditionError("the stage is no sum of products");
  const Node& product = c.pool[stage.values[0]];
  std::vector<NodeId> loads;
  std::vector<DType> types;
  for (NodeId operand : product.operands) {
    const std::optional<loops::DotFactor> factor =
        loops::DotFactorOf(c.pool, operand, dot->axis);
    if (!factor || c.pool[factor->load].opcode != Opcode::kLoad) {
      return FailedPreconditionError(
          "a factor is not a load, or bytes unpacked from loads, that is "
          "widened");
    }
    for (const NodeId load : loops::LoadsOf(*factor)) loads.push_back(load);
    types.push_back(c.pool[factor->value].type);
  }
  const DType a = types[0], b = types[1];
  if (!loops::IsDotProductType(dot->count, a, b, product.type)) {
    return FailedPreconditionError(
        "there are no sums of " + std::to_string(dot->count) + " products of " +
        std::string(DTypeName(a)) + " and " + std::string(DTypeName(b)) +
        " in " + std::string(DTypeName(product.type)));
  }
  for (NodeId load : loads) {
    if (LiesAlong(c, load, *dot)) continue;
    return FailedPreconditionError(
        "%" + c.buffers[c.pool[load].buffer].name +
        " does not lie along the loop: pack it with that innermost");
  }
  return OkStatus();
}

// --- pad ---

// Returns the load that a factor of the product is, or the load that the factor
// casts; nullopt if the factor is neither, or if an index is loaded.
std::optional<NodeId> AccessOf(const Computation& c, NodeId factor) {
  if (c.pool[factor].opcode == Opcode::kCast)
    factor = c.pool[factor].operands[0];
  if (!IsAccess(c.pool[factor])) return std::nullopt;
  for (NodeId index : IndicesOf(c, factor)) {
    bool is_gather = false;
    const NodeId roots[] = {index};
    ForEachLoad(c.pool, roots, [&](NodeId) { is_gather = true; });
    if (is_gather) return std::nullopt;
  }
  return factor;
}

// True if the load gives 0 where the axis is beyond its end, once it has been
// made a padded load with default value 0: the axis must be the index of a dim
// of its extent.
bool IsZeroBeyond(const Computation& c, NodeId access,
                  const ComputationAxis& axis) {
  const Node& node = c.pool[access];
  if (node.opcode == Opcode::kPad) {
    const Node& value = c.pool[node.operands.back()];
    if (value.opcode != Opcode::kConstant ||
        value.immediate != tensor::ZeroBits(node.type)) {
      return false;
    }
  }
  const std::span<const NodeId> indices = IndicesOf(c, access);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d] == axis.variable &&
        c.buffers[node.buffer].extents[d] == axis.extent) {
      return true;
    }
  }
  return false;
}

NodeId RoundedUp(Computation& c, NodeId extent, int64_t factor) {
  const auto make = [&](Opcode opcode, NodeId a, int64_t b) {
    const NodeId operands[] = {a, c.pool.Integer(b)};
    return tensor::Simplifier(c.pool).Make(opcode, DType::kI64, operands);
  };
  const NodeId steps = make(Opcode::kFloorDivide,
                            make(Opcode::kAdd, extent, factor - 1), factor);
  return make(Opcode::kMultiply, steps, factor);
}

}  // namespace

Status CheckDots(const Schedule& schedule, int stage) {
  const StagePlan& plan = schedule.plan(stage);
  for (int loop : plan.order) {
    if (plan.loops[loop].mark == LoopMark::kDot)
      EMBER_RETURN_IF_ERROR(CheckDotLoop(schedule, stage, loop));
  }
  return OkStatus();
}

Status Change(const Tensorize& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.loop.stage));
  EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, stage, step.loop));
  Loop& loop = schedule.mutable_plan(stage).loops[number];
  if (loop.mark != LoopMark::kSerial) {
    return FailedPreconditionError("loop '" + loop.name +
                                   "' is marked already: mark loops last");
  }
  loop.mark = LoopMark::kDot;
  // CheckDots checks if the mark is allowed. It runs after this primitive and
  // after each later one, which may break its rules.
  return OkStatus();
}

Status Change(const PadReduction& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, step.loop.stage));
  EMBER_ASSIGN_OR_RETURN(const int at, Find(schedule, number, step.loop));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.factor));
  Computation& c = schedule.mutable_computation();
  ComputationStage& stage = c.stages[number];
  EMBER_RETURN_IF_ERROR(CheckUnchanged(schedule, number, "pad"));
  const int axis_number = schedule.plan(number).loops[at].axis;
  if (axis_number < stage.spatial_count) {
    return FailedPreconditionError("loop '" + step.loop.name +
                                   "' combines nothing");
  }
  const bool is_product = stage.combiner == tensor::Combiner::kSum &&
                          stage.values.size() == 1 &&
                          c.pool[stage.values[0]].opcode == Opcode::kMultiply;
  if (!is_product)
    return FailedPreconditionError("the stage is no sum of products");
  if (stage.end && axis_number == stage.spatial_count) {
    return FailedPreconditionError("loop '" + step.loop.name +
                                   "' ends elsewhere at each point");
  }
  const ComputationAxis axis = stage.axes[axis_number];
  const DType type = c.pool[stage.values[0]].type;
  std::vector<NodeId> accesses;
  int zeros = 0;
  for (NodeId operand : c.pool[stage.values[0]].operands) {
    const std::optional<NodeId> access = AccessOf(c, operand);
    if (!access)
      return FailedPreconditionError("a factor is not a load that is widened");
    zeros += IsZeroBeyond(c, *access, axis);
    accesses.push_back(*access);
  }
  // Both factors must be 0 beyond the end if they are floats, because 0 *
  // infinity is NaN. For integers one is enough.
  if (zeros < (IsFloat(type) ? 2 : 1)) {
    return FailedPreconditionError(
        "beyond the end of '" + axis.name +
        "' products are not 0: that needs a dim of its extent that it is the "
        "index of");
  }
  const ComputationAxis padded =
      c.MakeAxis(axis.name, RoundedUp(c, axis.extent, step.factor));
  Rewriter rewriter(c.pool, c.pool, [&](NodeId id) -> std::optional<NodeId> {
    if (id == axis.variable) return padded.variable;
    const bool moves =
        std::find(accesses.begin(), accesses.end(), id) != accesses.end() &&
        c.pool[id].opcode == Opcode::kLoad &&
        tensor::DependsOn(c.pool, id, axis.variable);
    if (!moves) return std::nullopt;
    const Node load = c.pool[id];
    std::vector<NodeId> operands;
    for (NodeId index : load.operands)
      operands.push_back(rewriter.Rewrite(index));
    operands.push_back(c.pool.Constant(tensor::ZeroBits(load.type), load.type));
    return c.pool.Intern(Opcode::kPad, load.type, operands, 0, load.scope,
                         load.buffer);
  });
  stage.values = rewriter.Rewrite(stage.values);
  stage.axes[axis_number] = padded;
  return OkStatus();
}

}  // namespace ember::schedule


#include "jit/schedule/core/regions.h"

#include <algorithm>
#include <optional>

#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::Opcode;

// Largest range of a digit of an index that is analysed. A part that may be
// larger is not worth a temporary of its own.
constexpr int64_t kLargestDigit = int64_t{1} << 20;

class Reader {
 public:
  Reader(const LoopBody& body, loops::LoopNest& nest)
      : body_(body), pool_(nest.pool) {}

  // Returns the range of an index, or nullopt if it is not known.
  std::optional<AxisRegion> ValuesOf(NodeId index) {
    LinearSum base;
    const std::optional<NodeId> extent = SplitMoving(index, base);
    if (!extent || !IsNeverNegative(base)) return std::nullopt;
    return AxisRegion{tensor::BuildLinear(pool_, base), *extent};
  }

  // Returns the largest value of an index, which may be negative.
  std::optional<NodeId> LargestValueOf(NodeId index) {
    LinearSum base;
    const std::optional<NodeId> extent = SplitMoving(index, base);
    if (!extent) return std::nullopt;
    return Make(Opcode::kAdd, tensor::BuildLinear(pool_, base),
                Make(Opcode::kSubtract, *extent, pool_.Integer(1)));
  }

  // Returns the union of two regions at a constant distance.
  std::optional<AxisRegion> Union(const AxisRegion& a, const AxisRegion& b) {
    const NodeId distance = Make(Opcode::kSubtract, b.base, a.base);
    const std::optional<int64_t> constant = pool_.IntegerConstant(distance);
    if (!constant) return std::nullopt;
    if (*constant < 0) return Union(b, a);
    const NodeId end = Make(Opcode::kAdd, b.extent, pool_.Integer(*constant));
    return AxisRegion{a.base, Make(Opcode::kMaximum, a.extent, end)};
  }

 private:
  // Splits an index into `base`, which is constant within the body, and the
  // rest, which moves. Returns the number of values of the rest, which begin at
  // 0, or nullopt if it is not known.
  std::optional<NodeId> SplitMoving(NodeId index, LinearSum& base) {
    const std::optional<LinearSum> sum = tensor::Linearize(pool_, index);
    if (!sum || tensor::RangeOfLinear(pool_, *sum).IsFull())
      return std::nullopt;
    base.constant = sum->constant;
    NodeId extent = pool_.Integer(1);
    for (const tensor::LinearTerm& term : sum->terms) {
      if (!Moves(term.node)) {
        base.terms.push_back(term);
        continue;
      }
      if (term.coefficient < 0) return std::nullopt;
      const std::optional<NodeId> last = LargestOf(term.node);
      if (!last) return std::nullopt;
      const NodeId size =
          Make(Opcode::kMultiply, *last, pool_.Integer(term.coefficient));
      extent = Make(Opcode::kAdd, extent, size);
    }
    return extent;
  }

  bool IsNeverNegative(const LinearSum& sum) const {
    if (static_cast<int64_t>(sum.constant) < 0) return false;
    return std::all_of(
        sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
          return term.coefficient > 0 && IsNeverNegative(term.node);
        });
  }

  // True if the expression is never negative. Unlike ranges of values, this
  // also handles digits of loops with open extents.
  bool IsNeverNegative(NodeId id) const {
    const tensor::Node& node = pool_[id];
    if (node.range.low >= 0) return true;
    switch (node.opcode) {
      case Opcode::kModulo:
        return IsNeverNegative(node.operands[1]);
      case Opcode::kFloorDivide:
      case Opcode::kAdd:
      case Opcode::kMultiply:
        return IsNeverNegative(node.operands[0]) &&
               IsNeverNegative(node.operands[1]);
      default:
        return false;
    }
  }

  // Returns the largest value of a moving term, if it is never negative.
  std::optional<NodeId> LargestOf(NodeId term) {
    if (body_.moving.contains(term)) {
      const NodeId extent = pool_[term].operands[0];
      // The extent must not depend on the iteration of a surrounding loop,
      // because a part has the same size in all iterations.
      const bool is_of_iteration = pool_[extent].first_axis != UINT64_MAX;
      if (!is_of_iteration)
        return Make(Opcode::kSubtract, extent, pool_.Integer(1));
    }
    // Largest value of a term whose range is known, for example of a digit of a
    // fused loop.
    const auto& range = pool_[term].range;
    if (range.low < 0 || range.high > kLargestDigit) return std::nullopt;
    return pool_.Integer(range.high);
  }

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(pool_).Make(opcode, DType::kI64, operands);
  }

  bool Moves(NodeId root) const {
    std::vector<NodeId> stack = {root};
    std::set<NodeId> seen;
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id).second) continue;
      const tensor::Node& node = pool_[id];
      // The variable of a loop with one iteration is a constant node, which
      // other expressions may share.
      if (body_.moving.contains(id) && node.opcode != Opcode::kConstant)
        return true;
      // The value of a load is not known, so the expression counts as moving.
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
        return true;
      if (node.opcode == Opcode::kAxis) continue;
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
    return false;
  }

  const LoopBody& body_;
  ExpressionPool& pool_;
};

// Returns a rewriter from expressions over the stage's axes to expressions over
// its loops.
Rewriter ToLoops(const Computation& computation, const StageLoops& loops,
                 loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[loops.stage];
  return {computation.pool, nest.pool,
          [&stage, &loops](NodeId id) -> std::optional<NodeId> {
            for (size_t a = 0; a < stage.axes.size(); ++a) {
              if (stage.axes[a].variable == id) return loops.axes[a];
            }
            return std::nullopt;
          }};
}

}  // namespace

std::vector<AxisRegion> RegionRead(const Computation& computation,
                                   uint32_t buffer, const LoopBody& body,
                                   const std::vector<NodeId>& full,
                                   loops::LoopNest& nest) {
  Reader reader(body, nest);
  std::vector<std::optional<AxisRegion>> regions(full.size());
  std::vector<bool> whole(full.size());
  bool has_matrices = false;
  for (const StageLoops* loops : body.stages) {
    const ComputationStage& stage = computation.stages[loops->stage];
    Rewriter rewriter = ToLoops(computation, *loops, nest);
    ForEachLoad(computation.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = computation.pool[load];
      if (node.buffer != buffer) return;
      has_matrices |= loops->plan->MultipliesMatrices();
      for (size_t d = 0; d < full.size(); ++d) {
        // The indices of a padded load (Pad) may be out of bounds.
        std::optional<AxisRegion> region;
        if (node.opcode == Opcode::kLoad ||
            tensor::ProvablyInBounds(computation.pool, node.operands[d],
                                     computation.buffers[buffer].extents[d])) {
          region = reader.ValuesOf(rewriter.Rewrite(node.operands[d]));
        }
        if (region && regions[d]) region = reader.Union(*regions[d], *region);
        if (!region) whole[d] = true;
        regions[d] = region;
      }
    });
  }
  std::vector<AxisRegion> result;
  for (size_t d = 0; d < full.size(); ++d) {
    const AxisRegion all{nest.pool.Integer(0), full[d]};
    const bool covers = !has_matrices && regions[d] &&
                        nest.pool[regions[d]->extent].range.low >=
                            nest.pool[full[d]].range.high;
    result.push_back(whole[d] || !regions[d] || covers ? all : *regions[d]);
  }
  return result;
}

void EndAtUsefulElements(const Computation& computation, StageLoops& loops,
                         loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[loops.stage];
  const int axis = stage.spatial_count;
  const std::vector<int>& order = loops.plan->order;
  const auto at = std::ranges::find_if(order, [&](int number) {
    const Loop& loop = loops.plan->loops[number];
    return loop.origin == Loop::Origin::kAxis && loop.axis == axis &&
           loop.mark == LoopMark::kSerial;
  });
  if (!stage.useful || at == order.end()) return;
  const NodeId variable = loops.values[*at];
  if (nest.pool[variable].opcode != Opcode::kAxis) return;
  LoopBody body;
  for (auto inside = at + 1; inside != order.end(); ++inside)
    body.moving.insert(loops.values[*inside]);
  const auto make = [&](Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest.pool).Make(opcode, DType::kI64, operands);
  };
  // k * step < end for the largest end in the body: k < ceil(end / step).
  const NodeId rounded =
      make(Opcode::kAdd,
           ToLoops(computation, loops, nest).Rewrite(stage.useful->end),
           nest.pool.Integer(stage.useful->step - 1));
  const std::optional<NodeId> last = Reader(body, nest).LargestValueOf(rounded);
  if (!last) return;
  NodeId count =
      make(Opcode::kFloorDivide, *last, nest.pool.Integer(stage.useful->step));
  if (nest.pool[count].range.low < 0)
    count = make(Opcode::kMaximum, count, nest.pool.Integer(0));
  const NodeId extent = make(Opcode::kMinimum, loops.extents[*at], count);
  if (extent == loops.extents[*at]) return;
  // The loop gets a new variable with the same number and another extent.
  loops.extents[*at] = extent;
  loops.values[*at] = nest.pool.Intern(Opcode::kAxis, DType::kI64, {&extent, 1},
                                       nest.pool[variable].immediate,
                                       nest.pool[variable].scope);
  loops.axes[axis] = loops.values[*at];
}

}  // namespace ember::schedule

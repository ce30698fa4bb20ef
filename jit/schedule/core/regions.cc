
#include "jit/schedule/core/regions.h"

#include <algorithm>
#include <optional>

#include "jit/schedule/core/loop_bounds.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::Opcode;

class Reader {
 public:
  Reader(const LoopBody& body, loops::LoopNest& nest)
      : body_(body), pool_(nest.pool), bounds_(body.moving, nest.pool) {}

  // Returns the range of values of an index in the body, or nullopt if it is
  // not known or may begin below 0.
  std::optional<AxisRegion> ValuesOf(NodeId index) {
    LinearSum base;
    const std::optional<NodeId> extent = SplitMoving(index, base);
    if (!extent || !IsNeverNegative(base)) return std::nullopt;
    return AxisRegion{tensor::BuildLinear(pool_, base), *extent, std::nullopt};
  }

  // Returns the elements that lie in the part in some iteration of the body, or
  // nullopt if they are not known.
  std::optional<AxisPart> PositionsOf(const AxisPart& part) {
    const std::optional<NodeId> begin = bounds_.Smallest(part.begin);
    const std::optional<NodeId> end = bounds_.Largest(part.end);
    if (!begin || !end) return std::nullopt;
    return AxisPart{*begin, *end};
  }

  // Returns the smallest part that contains the two parts.
  AxisPart Hull(const AxisPart& a, const AxisPart& b) {
    return {Make(Opcode::kMinimum, a.begin, b.begin),
            Make(Opcode::kMaximum, a.end, b.end)};
  }

  // Returns the smallest region that contains the two regions. Returns nullopt
  // unless the difference of their bases is a constant.
  std::optional<AxisRegion> Union(const AxisRegion& a, const AxisRegion& b) {
    const NodeId distance = Make(Opcode::kSubtract, b.base, a.base);
    const std::optional<int64_t> constant = pool_.IntegerConstant(distance);
    if (!constant) return std::nullopt;
    if (*constant < 0) return Union(b, a);
    const NodeId end = Make(Opcode::kAdd, b.extent, pool_.Integer(*constant));
    return AxisRegion{a.base, Make(Opcode::kMaximum, a.extent, end),
                      std::nullopt};
  }

 private:
  // Splits an index into a sum that is constant within the body, which it
  // stores to `base`, and the remaining terms. Returns how many values the
  // remaining terms have together, 0 being the first; nullopt if that is not
  // known.
  std::optional<NodeId> SplitMoving(NodeId index, LinearSum& base) {
    const std::optional<LinearSum> sum = tensor::Linearize(pool_, index);
    if (!sum || tensor::RangeOfLinear(pool_, *sum).IsFull())
      return std::nullopt;
    base.constant = sum->constant;
    NodeId extent = pool_.Integer(1);
    for (const tensor::LinearTerm& term : sum->terms) {
      if (!bounds_.Moves(term.node)) {
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

  // True if the expression is never negative. Unlike the ranges of nodes, this
  // also covers quotients and remainders by extents that are not constant.
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

  // Returns the largest value of a term that changes within the body and is
  // never negative; nullopt if it is not known.
  std::optional<NodeId> LargestOf(NodeId term) {
    if (body_.moving.contains(term)) {
      const NodeId extent = pool_[term].operands[0];
      // The extent may not depend on an iteration, because a part has the same
      // size in all iterations.
      const bool is_of_iteration = pool_[extent].first_axis != UINT64_MAX;
      if (!is_of_iteration)
        return Make(Opcode::kSubtract, extent, pool_.Integer(1));
    }
    // The term's largest value is known from its range, for example because it
    // is a quotient or remainder of a fused loop's variable.
    const auto& range = pool_[term].range;
    if (range.low < 0 || range.high > LoopBounds::kLargestDigit)
      return std::nullopt;
    return pool_.Integer(range.high);
  }

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(pool_).Make(opcode, DType::kI64, operands);
  }

  const LoopBody& body_;
  ExpressionPool& pool_;
  LoopBounds bounds_;
};

// Returns the part of the axis that its shortened loops cover, if the index is
// an axis of the stage whose loops were shortened and lie in the body.
// Otherwise nullopt.
std::optional<AxisPart> ShortenedPart(const ComputationStage& stage,
                                      const StageLoops& loops, NodeId index,
                                      const std::set<NodeId>& moving) {
  for (size_t a = 0; a < loops.shortened.size(); ++a) {
    const std::optional<ShortenedAxis>& axis = loops.shortened[a];
    if (stage.axes[a].variable != index || !axis) continue;
    if (moving.contains(loops.values[axis->loop])) return axis->part;
  }
  return std::nullopt;
}

// The elements along one dim that the loads of a buffer read.
struct DimRead {
  std::optional<AxisRegion> region;
  // true if the elements that some load reads are not known, so that the whole
  // dim counts as read
  bool is_whole = false;
  // The part that shortened loops cover, if all loads so far are indexed by
  // axes of such loops; otherwise nullopt.
  std::optional<AxisPart> part;
  bool has_loads = false;
};

}  // namespace

std::vector<AxisRegion> RegionRead(const Computation& computation,
                                   uint32_t buffer, const LoopBody& body,
                                   const std::vector<NodeId>& full,
                                   loops::LoopNest& nest) {
  Reader reader(body, nest);
  std::vector<DimRead> dims(full.size());
  bool has_matrices = false;
  for (const StageLoops* loops : body.stages) {
    const ComputationStage& stage = computation.stages[loops->stage];
    Rewriter rewriter = ToLoops(computation, *loops, nest.pool);
    ForEachLoad(computation.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = computation.pool[load];
      if (node.buffer != buffer) return;
      has_matrices |= loops->plan->MultipliesMatrices();
      for (size_t d = 0; d < full.size(); ++d) {
        const NodeId index = node.operands[d];
        DimRead& dim = dims[d];
        std::optional<AxisPart> part =
            ShortenedPart(stage, *loops, index, body.moving);
        if (part) part = reader.PositionsOf(*part);
        if (part && dim.has_loads && dim.part)
          part = reader.Hull(*dim.part, *part);
        dim.part = dim.has_loads && !dim.part ? std::nullopt : part;
        dim.has_loads = true;
        // A padded load may be out of bounds, where its index says nothing
        // about the part that is read.
        std::optional<AxisRegion> region;
        if (node.opcode == Opcode::kLoad ||
            tensor::ProvablyInBounds(computation.pool, index,
                                     computation.buffers[buffer].extents[d])) {
          region = reader.ValuesOf(rewriter.Rewrite(index));
        }
        if (region && dim.region) region = reader.Union(*dim.region, *region);
        if (!region) dim.is_whole = true;
        dim.region = region;
      }
    });
  }
  std::vector<AxisRegion> result;
  for (size_t d = 0; d < full.size(); ++d) {
    const DimRead& dim = dims[d];
    const bool covers = !has_matrices && dim.region &&
                        nest.pool[dim.region->extent].range.low >=
                            nest.pool[full[d]].range.high;
    // The buffer holds the whole dim if the read part differs between
    // iterations (dim.part), is not known, or is as long as the dim.
    if (dim.part || dim.is_whole || !dim.region || covers)
      result.push_back({nest.pool.Integer(0), full[d], dim.part});
    else
      result.push_back(*dim.region);
  }
  return result;
}

}  // namespace ember::schedule

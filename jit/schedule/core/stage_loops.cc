
#include "jit/schedule/core/stage_loops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/schedule/core/facts.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::Opcode;

constexpr int64_t kMaxUnrolled = 4096;
constexpr int64_t kMaxLanes = 64;
constexpr int64_t kMaxInvocations = int64_t{1} << 20;

// Returns the largest extent of a loop with the mark. nullopt: any extent is
// allowed, even one that is not constant.
std::optional<int64_t> LargestExtent(LoopMark mark) {
  switch (mark) {
    case LoopMark::kSerial:
    case LoopMark::kParallel:
      break;
    case LoopMark::kUnrolled:
    case LoopMark::kDot:
      return kMaxUnrolled;
    case LoopMark::kVector:
      return kMaxLanes;
    case LoopMark::kInvocation:
    case LoopMark::kSubgroup:
      return kMaxInvocations;
    case LoopMark::kMatrix:
      return loops::kMaxMatrixExtent;
  }
  return std::nullopt;
}

class Maker {
 public:
  Maker(const Schedule& schedule, loops::LoopNest& nest, StageLoops& result)
      : schedule_(schedule),
        plan_(*result.plan),
        nest_(nest),
        pool_(nest.pool),
        r_(result) {}

  Status Run(std::vector<NodeId> full, bool is_placed) {
    r_.extents.resize(plan_.loops.size());
    r_.values.resize(plan_.loops.size());
    FindLoopsThatEnd();
    EMBER_RETURN_IF_ERROR(MakeLoops(/*that_end=*/false, is_placed));
    std::optional<NodeId> guarded;
    if (!ending_.empty()) {
      const NodeId end = EndOfStage();
      if (EndsLoops(end)) {
        full[static_cast<size_t>(Stage().spatial_count)] = end;
        r_.end = end;
      } else {
        guarded = end;
      }
      EMBER_RETURN_IF_ERROR(MakeLoops(/*that_end=*/true, is_placed));
    }
    AddRegionGuards(full);
    if (guarded) {
      const NodeId value = r_.axes[static_cast<size_t>(Stage().spatial_count)];
      r_.guards.push_back({value, *guarded,
                           PositionOfGuard(value, *guarded, true),
                           /*is_reduction=*/true});
    }
    return OkStatus();
  }

 private:
  const ComputationStage& Stage() const {
    return schedule_.computation().stages[static_cast<size_t>(r_.stage)];
  }

  // Makes a part of the stage's loops. If `that_end` is true, these are the
  // loops whose extents differ from point to point (ComputationStage::end);
  // otherwise all other loops.
  Status MakeLoops(bool that_end, bool is_placed) {
    const auto is_meant = [&](size_t loop) {
      return ending_.contains(static_cast<int>(loop)) == that_end;
    };
    const size_t count = plan_.loops.size();
    for (size_t i = 0; i < count; ++i) {
      if (is_meant(i)) r_.extents[i] = ExtentOf(plan_.loops[i]);
    }
    for (int loop : plan_.order) {
      if (!is_meant(static_cast<size_t>(loop))) continue;
      if (is_placed) EMBER_RETURN_IF_ERROR(CheckExtent(loop));
      r_.values[loop] = MakeVariable(loop);
      is_made_.insert(loop);
    }
    // Visits loops that were made from other loops before those other loops,
    // which have smaller numbers.
    for (size_t i = count; i-- > 0;) {
      if (is_meant(i)) SetParents(static_cast<int>(i));
    }
    return OkStatus();
  }

  // --- Loops whose extent differs from point to point. ---

  // Finds the loops of the axis that ends per point, and of axes that share a
  // loop with it.
  void FindLoopsThatEnd() {
    if (!Stage().end) return;
    std::set<int> axes = {Stage().spatial_count};
    for (size_t before = 0; before != axes.size();) {
      before = axes.size();
      for (size_t i = 0; i < plan_.loops.size(); ++i) {
        std::set<int> of_loop;
        CollectAxes(static_cast<int>(i), of_loop);
        const bool overlaps = std::ranges::any_of(
            of_loop, [&](int axis) { return axes.contains(axis); });
        if (!overlaps) continue;
        ending_.insert(static_cast<int>(i));
        axes.insert(of_loop.begin(), of_loop.end());
      }
    }
  }

  void CollectAxes(int number, std::set<int>& axes) const {
    const Loop& loop = plan_.loops[static_cast<size_t>(number)];
    if (loop.origin == Loop::Origin::kAxis) {
      axes.insert(loop.axis);
      return;
    }
    CollectAxes(loop.parent, axes);
    if (loop.second >= 0) CollectAxes(loop.second, axes);
  }

  // Returns ComputationStage::end in terms of the loops over points.
  NodeId EndOfStage() {
    const auto& axes = Stage().axes;
    return Rewriter(
               schedule_.computation().pool, pool_,
               [&](NodeId id) -> std::optional<NodeId> {
                 for (size_t i = 0; i < plan_.loops.size(); ++i) {
                   const Loop& loop = plan_.loops[i];
                   if (loop.origin != Loop::Origin::kAxis ||
                       axes[static_cast<size_t>(loop.axis)].variable != id) {
                     continue;
                   }
                   return Make(Opcode::kAdd, r_.regions[loop.axis].base,
                               r_.values[i]);
                 }
                 return std::nullopt;
               })
        .Rewrite(*Stage().end);
  }

  // Gives the axis the extent `end`, and returns true. Returns false if `end`
  // is not known before the first loop that combines, or if a loop of the axis
  // needs a constant extent.
  bool EndsLoops(NodeId end) {
    if (LastPosition(end) >= r_.FirstReduction()) return false;
    AxisRegion& region = r_.regions[static_cast<size_t>(Stage().spatial_count)];
    const NodeId whole = region.extent;
    region.extent = end;
    bool may_end = true;
    for (size_t i = 0; i < plan_.loops.size(); ++i) {
      if (!ending_.contains(static_cast<int>(i))) continue;
      r_.extents[i] = ExtentOf(plan_.loops[i]);
      may_end &= plan_.PositionOf(static_cast<int>(i)) < 0 ||
                 !LargestExtent(plan_.loops[i].mark) ||
                 pool_.IsConstant(r_.extents[i]);
    }
    if (!may_end) region.extent = whole;
    return may_end;
  }

  // --- loops ---

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(pool_).Make(opcode, DType::kI64, operands);
  }

  NodeId ExtentOf(const Loop& loop) {
    switch (loop.origin) {
      case Loop::Origin::kAxis:
        return r_.regions[loop.axis].extent;
      case Loop::Origin::kInner:
        return pool_.Integer(loop.factor);
      case Loop::Origin::kOuter:
        return Make(Opcode::kFloorDivide,
                    Make(Opcode::kAdd, r_.extents[loop.parent],
                         pool_.Integer(loop.factor - 1)),
                    pool_.Integer(loop.factor));
      case Loop::Origin::kFused:
        return Make(Opcode::kMultiply, r_.extents[loop.parent],
                    r_.extents[loop.second]);
    }
    return 0;
  }

  Status CheckExtent(int number) const {
    const Loop& loop = plan_.loops[number];
    const std::optional<int64_t> limit = LargestExtent(loop.mark);
    if (!limit) return OkStatus();
    const std::optional<int64_t> extent =
        pool_.IntegerConstant(r_.extents[number]);
    if (extent && *extent >= 0 && *extent <= *limit) return OkStatus();
    return FailedPreconditionError(
        "%" + schedule_.computation().stages[r_.stage].name + ": loop '" +
        loop.name + "': expected a constant extent of at most " +
        std::to_string(*limit) + ", found " +
        (extent ? std::to_string(*extent) : "an open one"));
  }

  NodeId MakeVariable(int loop) {
    const uint64_t number = nest_.variables.size();
    // A loop of constant extent 1 has no variable, except a subgroup loop,
    // which matrices need.
    const NodeId extent = r_.extents[loop];
    const bool is_needed = plan_.loops[loop].mark == LoopMark::kSubgroup;
    if (pool_.IntegerConstant(extent) == 1 && !is_needed)
      return pool_.Integer(0);
    nest_.variables.push_back(UniqueName(plan_.loops[loop].name));
    pool_.Refine(extent, {0, INT64_MAX});
    return pool_.Intern(Opcode::kAxis, DType::kI64, {&extent, 1}, number, 1);
  }

  std::string UniqueName(const std::string& name) const {
    const auto taken = [&](const std::string& candidate) {
      return std::find(nest_.variables.begin(), nest_.variables.end(),
                       candidate) != nest_.variables.end() ||
             std::find(nest_.parameters.begin(), nest_.parameters.end(),
                       candidate) != nest_.parameters.end();
    };
    if (!taken(name)) return name;
    for (int i = 1;; ++i) {
      const std::string candidate = name + "_" + std::to_string(i);
      if (!taken(candidate)) return candidate;
    }
  }

  void SetParents(int number) {
    const Loop& loop = plan_.loops[number];
    if (loop.origin == Loop::Origin::kFused) {
      const NodeId extent = r_.extents[loop.second];
      // The slow loop has one iteration. The simplifier does not know that the
      // fused loop then has the extent of the fast one.
      const bool is_fast = pool_.IntegerConstant(r_.extents[loop.parent]) == 1;
      r_.values[loop.parent] =
          is_fast ? pool_.Integer(0)
                  : Make(Opcode::kFloorDivide, r_.values[number], extent);
      r_.values[loop.second] =
          is_fast ? r_.values[number]
                  : Make(Opcode::kModulo, r_.values[number], extent);
      // This guard always holds: it states that the fast extent is positive,
      // which implies that the digits are not negative. Proofs of bounds cannot
      // factor products of open extents, so the nest states the fact, once per
      // iteration.
      const int position =
          PositionOfGuard(r_.values[number], extent, loop.is_reduction);
      if (!pool_.IsConstant(extent))
        r_.guards.push_back(
            {pool_.Integer(0), extent, position, loop.is_reduction});
      for (const int part : {loop.parent, loop.second}) {
        const NodeId value = r_.values[part];
        if (pool_.IsConstant(extent) &&
            pool_.IsConstant(r_.extents[loop.parent])) {
          break;
        }
        if (Facts(pool_).IsBelow(value, r_.extents[part])) continue;
        r_.guards.push_back(
            {value, r_.extents[part],
             PositionOfGuard(value, r_.extents[part], loop.is_reduction),
             loop.is_reduction, /*is_of_region=*/false,
             /*is_fact=*/true});
      }
      // If extents are open, the known ranges of the two digits' values are too
      // wide, so a guard states that each digit is below its extent.
      for (const int part : {loop.parent, loop.second}) {
        if (!IsWithin(number)) break;
        const int64_t end = pool_[r_.extents[part]].range.high;
        pool_.Refine(r_.values[part], {0, std::max<int64_t>(end, 1) - 1});
        within_.insert(part);
      }
    }
    if (loop.origin != Loop::Origin::kOuter) return;
    // In the list of loops, the inner loop of a split follows its outer loop.
    const NodeId start =
        Make(Opcode::kMultiply, r_.values[number], pool_.Integer(loop.factor));
    const NodeId value = Make(Opcode::kAdd, start, r_.values[number + 1]);
    r_.values[loop.parent] = value;
    const NodeId extent = r_.extents[loop.parent];
    const std::optional<int64_t> constant = pool_.IntegerConstant(extent);
    if (constant && *constant % loop.factor == 0) {
      if (IsWithin(number) && IsWithin(number + 1)) within_.insert(loop.parent);
      return;
    }
    if (loop.factor == 1) return;
    // This guard always holds. It states that an open extent is not 0, which
    // proofs of bounds need.
    if (!constant) {
      r_.guards.push_back({start, extent,
                           PositionOfGuard(start, extent, loop.is_reduction),
                           loop.is_reduction});
    }
    // A guard on the start of each part of the split loop skips a part that is
    // beyond the end as a whole.
    if (const std::optional<NodeId> inner = StartOf(number + 1)) {
      const NodeId first = Make(Opcode::kAdd, start, *inner);
      r_.guards.push_back({first, extent,
                           PositionOfGuard(first, extent, loop.is_reduction),
                           loop.is_reduction});
    }
    const NodeId bound =
        WithoutLanes(WithoutLanes(value, extent, LoopMark::kVector), extent,
                     LoopMark::kMatrix);
    r_.guards.push_back({bound, extent,
                         PositionOfGuard(bound, extent, loop.is_reduction),
                         loop.is_reduction});
    if (loop.peeled) {
      const NodeId last =
          Make(Opcode::kAdd, start, pool_.Integer(loop.factor - 1));
      r_.exact.push_back({last, extent,
                          PositionOfGuard(last, extent, loop.is_reduction),
                          loop.is_reduction});
    }
  }

  // True if the loop's value is below its extent without a guard. That is false
  // for a loop that was split by a factor that may not divide the extent.
  bool IsWithin(int number) const {
    return plan_.PositionOf(number) >= 0 || within_.contains(number);
  }

  // Returns `value` for use in the guard value < extent, without the variables
  // of loops with the mark. Lanes of a vector loop, and rows, columns or steps
  // of a matrix, all satisfy a guard or none does if it compares multiples of
  // their number, so no masks are needed:
  //
  //   x * 24 + y * 8 + lane < 256   ->   x * 24 + y * 8 + 7 < 256
  NodeId WithoutLanes(NodeId value, NodeId extent, LoopMark mark) {
    const std::optional<int64_t> size = pool_.IntegerConstant(extent);
    if (!size) return value;
    for (int loop : plan_.order) {
      if (plan_.loops[loop].mark != mark) continue;
      const NodeId lane = r_.values[loop];
      const std::optional<int64_t> lanes =
          pool_.IntegerConstant(r_.extents[loop]);
      if (!lanes || *lanes < 2 || *size % *lanes != 0) continue;
      int found = 0;
      NodeId bound = pool_.Integer(*lanes - 1);
      bool multiples = true;
      for (NodeId term : TermsOf(value)) {
        if (term == lane) {
          ++found;
          continue;
        }
        multiples &= IsMultiple(term, *lanes);
        bound = Make(Opcode::kAdd, term, bound);
      }
      if (found == 1 && multiples) return bound;
    }
    return value;
  }

  std::vector<NodeId> TermsOf(NodeId sum) const {
    std::vector<NodeId> terms;
    std::vector<NodeId> stack = {sum};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      const tensor::Node& node = pool_[id];
      if (node.opcode == Opcode::kAdd) {
        stack.insert(stack.end(), node.operands.begin(), node.operands.end());
      } else {
        terms.push_back(id);
      }
    }
    return terms;
  }

  bool IsMultiple(NodeId term, int64_t divisor) const {
    if (const std::optional<int64_t> value = pool_.IntegerConstant(term))
      return *value % divisor == 0;
    const tensor::Node& node = pool_[term];
    return node.opcode == Opcode::kMultiply &&
           (IsMultiple(node.operands[0], divisor) ||
            IsMultiple(node.operands[1], divisor));
  }

  void AddRegionGuards(const std::vector<NodeId>& full) {
    const auto& axes = schedule_.computation().stages[r_.stage].axes;
    r_.axes.resize(axes.size());
    for (size_t i = 0; i < plan_.loops.size(); ++i) {
      const Loop& loop = plan_.loops[i];
      if (loop.origin != Loop::Origin::kAxis) continue;
      const AxisRegion& region = r_.regions[loop.axis];
      const NodeId value = Make(Opcode::kAdd, region.base, r_.values[i]);
      r_.axes[loop.axis] = value;
      const bool whole = region.extent == full[loop.axis] &&
                         pool_.IntegerConstant(region.base) == 0;
      if (whole) continue;
      // If the axis is split, a guard skips each part that is beyond the end as
      // a whole, even where single points need no guard.
      if (const std::optional<NodeId> start = StartOf(static_cast<int>(i))) {
        const NodeId first = Make(Opcode::kAdd, region.base, *start);
        r_.guards.push_back({first, full[loop.axis], LastPosition(first),
                             loop.is_reduction, /*is_of_region=*/true});
      }
      const NodeId bound =
          WithoutLanes(value, full[loop.axis], LoopMark::kMatrix);
      r_.guards.push_back({bound, full[loop.axis], LastPosition(bound),
                           loop.is_reduction, /*is_of_region=*/true});
    }
  }

  // Returns the value at which the current part of a split loop begins; nullopt
  // if the loop was not split.
  std::optional<NodeId> StartOf(int number) {
    for (size_t i = number + 1; i < plan_.loops.size(); ++i) {
      const Loop& loop = plan_.loops[i];
      if (loop.parent != number || loop.origin != Loop::Origin::kOuter)
        continue;
      return Make(Opcode::kMultiply, r_.values[i], pool_.Integer(loop.factor));
    }
    return std::nullopt;
  }

  // Returns the position in the order at which a < b can be checked.
  int PositionOfGuard(NodeId a, NodeId b, bool is_reduction) const {
    const int last = std::max(LastPosition(a), LastPosition(b));
    // If a sum ends at another element at each point, its guard is checked in
    // the reduction loops, not in the loops over points.
    return is_reduction && !ending_.empty()
               ? std::max(last, r_.FirstReduction())
               : last;
  }

  // Returns the position of the innermost loop that the value depends on; -1 if
  // it depends on no loop of this stage.
  int LastPosition(NodeId value) const {
    std::set<NodeId> used;
    std::vector<NodeId> stack = {value};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (!used.insert(id).second || pool_[id].opcode == Opcode::kAxis)
        continue;
      stack.insert(stack.end(), pool_[id].operands.begin(),
                   pool_[id].operands.end());
    }
    int last = -1;
    for (size_t i = 0; i < plan_.order.size(); ++i) {
      if (!is_made_.contains(plan_.order[i])) continue;
      const NodeId variable = r_.values[plan_.order[i]];
      if (pool_[variable].opcode == Opcode::kAxis && used.contains(variable))
        last = static_cast<int>(i);
    }
    return last;
  }

  const Schedule& schedule_;
  const StagePlan& plan_;
  loops::LoopNest& nest_;
  ExpressionPool& pool_;
  StageLoops& r_;
  // split loops whose values need no guard: see IsWithin
  std::set<int> within_;
  std::set<int> ending_;   // loops whose extents differ from point to point
  std::set<int> is_made_;  // loops in the order whose variables have been made
};

}  // namespace

int StageLoops::FirstReduction() const {
  int position = 0;
  while (position < static_cast<int>(plan->order.size()) &&
         !IsReduction(position)) {
    ++position;
  }
  return position;
}

Rewriter ToLoops(const Computation& computation, const StageLoops& loops,
                 tensor::ExpressionPool& pool) {
  const ComputationStage& stage = computation.stages[loops.stage];
  return {computation.pool, pool,
          [&stage, &loops](NodeId id) -> std::optional<NodeId> {
            for (size_t a = 0; a < stage.axes.size(); ++a) {
              if (stage.axes[a].variable == id) return loops.axes[a];
            }
            return std::nullopt;
          }};
}

loops::LoopKind LoopKindOf(LoopMark mark) {
  switch (mark) {
    case LoopMark::kUnrolled:
      return loops::LoopKind::kUnrolled;
    case LoopMark::kVector:
      return loops::LoopKind::kVector;
    case LoopMark::kInvocation:
      return loops::LoopKind::kInvocation;
    case LoopMark::kDot:
      return loops::LoopKind::kDot;
    case LoopMark::kSubgroup:
      return loops::LoopKind::kSubgroup;
    case LoopMark::kMatrix:
      return loops::LoopKind::kMatrix;
    case LoopMark::kSerial:
    case LoopMark::kParallel:
      break;
  }
  return loops::LoopKind::kSerial;
}

NodeId AddVariable(loops::LoopNest& nest, const std::string& name,
                   NodeId extent) {
  const uint64_t number = nest.variables.size();
  nest.variables.push_back(name + "_" + std::to_string(number));
  return nest.pool.Intern(Opcode::kAxis, DType::kI64, {&extent, 1}, number, 1);
}

StatusOr<StageLoops> MakeStageLoops(const Schedule& schedule, int stage,
                                    std::vector<AxisRegion> regions,
                                    const std::vector<NodeId>& full,
                                    bool is_placed, loops::LoopNest& nest) {
  StageLoops result;
  result.stage = stage;
  result.plan = &schedule.plan(stage);
  result.regions = std::move(regions);
  EMBER_RETURN_IF_ERROR(Maker(schedule, nest, result).Run(full, is_placed));
  result.whole_extents = result.extents;
  return result;
}

}  // namespace ember::schedule

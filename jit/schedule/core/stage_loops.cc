
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

// Returns the largest extent that a loop with this mark may have. nullopt if
// any extent is allowed, even one that is not constant.
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

  // Makes some of the stage's loops: if `that_end` is true, those whose extents
  // differ from point to point (ComputationStage::end), otherwise all others.
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
    // Loops that were made from other loops have larger numbers. They come
    // first, because their values determine those of the loops that they were
    // made from.
    for (size_t i = count; i-- > 0;) {
      if (is_meant(i)) SetParents(static_cast<int>(i));
    }
    return OkStatus();
  }

  // --- Loops whose extent differs from point to point. ---

  // Finds the loops over the axis whose extent differs from point to point, and
  // over all axes that are fused with it.
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

  // Returns ComputationStage::end as an expression over the variables of the
  // loops over points.
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

  // Sets the extent of the reduction axis to `end`, and returns true. Returns
  // false if `end` is not known before the outermost reduction loop, or if a
  // loop over the axis must have a constant extent.
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
    // A loop of constant extent 1 gets no variable: its value is 0. The
    // exception are subgroup loops, because matrices need their variable.
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
      // If the slow loop has one iteration, the fused loop has the extent of
      // the fast one. The simplifier does not know that, so it is written here.
      const bool is_fast = pool_.IntegerConstant(r_.extents[loop.parent]) == 1;
      r_.values[loop.parent] =
          is_fast ? pool_.Integer(0)
                  : Make(Opcode::kFloorDivide, r_.values[number], extent);
      r_.values[loop.second] =
          is_fast ? r_.values[number]
                  : Make(Opcode::kModulo, r_.values[number], extent);
      // This guard always holds. It states that the extent of the fast loop is
      // positive, which implies that quotient and remainder are not negative.
      // The verifier cannot derive that from a product of open extents, so the
      // nest states it, once per iteration.
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
      // If extents are not constant, the ranges known for quotient and
      // remainder are too wide. A guard states that each is below its extent,
      // so the ranges are narrowed to that.
      for (const int part : {loop.parent, loop.second}) {
        if (!IsWithin(number)) break;
        const int64_t end = pool_[r_.extents[part]].range.high;
        pool_.Refine(r_.values[part], {0, std::max<int64_t>(end, 1) - 1});
        within_.insert(part);
      }
    }
    if (loop.origin != Loop::Origin::kOuter) return;
    // The two loops that a split makes have consecutive numbers: the outer one,
    // then the inner one.
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
    // This guard always holds. It states that the extent, which is not
    // constant, is not 0: the verifier's proofs of bounds need that.
    if (!constant) {
      r_.guards.push_back({start, extent,
                           PositionOfGuard(start, extent, loop.is_reduction),
                           loop.is_reduction});
    }
    // If the inner loop is split again, a guard on the first point of each of
    // its parts skips a part that lies completely beyond the end.
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

  // True if the loop's value is always below its extent, so that it needs no
  // guard. False for a loop that was split by a factor that may not divide the
  // extent.
  bool IsWithin(int number) const {
    return plan_.PositionOf(number) >= 0 || within_.contains(number);
  }

  // Returns `value` for use in the guard value < extent, with the variables of
  // loops that have the mark replaced by their last values. If extent and value
  // are multiples of such a loop's length, all of its lanes, or rows or columns
  // of a matrix, satisfy the guard or none does, so no masks are needed:
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
      // If the axis is split, a guard on the first point of each part skips a
      // part that lies completely beyond the end, even where single points need
      // no guard.
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

  // Returns the first value of a split loop in the current iteration of its
  // outer part; nullopt if the loop was not split.
  std::optional<NodeId> StartOf(int number) {
    for (size_t i = number + 1; i < plan_.loops.size(); ++i) {
      const Loop& loop = plan_.loops[i];
      if (loop.parent != number || loop.origin != Loop::Origin::kOuter)
        continue;
      return Make(Opcode::kMultiply, r_.values[i], pool_.Integer(loop.factor));
    }
    return std::nullopt;
  }

  // Returns the position of the innermost loop in whose body the guard a < b
  // can be checked.
  int PositionOfGuard(NodeId a, NodeId b, bool is_reduction) const {
    const int last = std::max(LastPosition(a), LastPosition(b));
    // If a sum ends at another element at each point, the guard is checked
    // inside the reduction loops, never in the loops over points around them.
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
  // numbers of split loops whose values need no guard (IsWithin)
  std::set<int> within_;
  std::set<int> ending_;   // numbers of the loops whose extents differ from
                           // point to point
  std::set<int> is_made_;  // numbers of the loops whose variables have been
                           // made
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

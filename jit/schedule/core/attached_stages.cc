
#include "jit/schedule/core/attached_stages.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/shorten_loops.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {

namespace {

using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Opcode;

// Finds the loop variables whose values follow from the part of its axes that
// an attached stage covers in an iteration. If all variables do, no two
// iterations cover overlapping parts. A variable of a fused loop follows from
// its digits (its quotient and its remainder).
class KnownFromParts {
 public:
  explicit KnownFromParts(tensor::ExpressionPool& pool) : pool_(pool) {}

  // Adds the terms of the part's begin whose values follow from it, because
  // iterations that differ in such a term have parts of this axis that do not
  // overlap:
  //
  //   [i * 32 + j * 8, ... + 8) with j < 4 determines i and j
  //   [i * 8, i * 8 + 12) determines nothing
  void Add(const AxisRegion& region) {
    AddSum(region.base, std::max<int64_t>(pool_[region.extent].range.high, 1));
  }

  bool Contains(NodeId variable) {
    while (!known_.contains(variable) && JoinDigits()) {
    }
    return known_.contains(variable);
  }

 private:
  // Adds the terms of a sum whose values follow from it. A term (digit) does if
  // a step of it changes the sum by at least `size` and the largest sum of all
  // smaller terms: otherwise two parts may overlap.
  void AddSum(NodeId node, int64_t size) {
    std::optional<LinearSum> sum = tensor::Linearize(pool_, node);
    // A sum without a known range might wrap, so no term follows from it.
    if (!sum || tensor::RangeOfLinear(pool_, *sum).IsFull()) return;
    std::ranges::sort(sum->terms, {}, &LinearTerm::coefficient);
    // `reach` is the size of a part plus the largest sum of the terms that were
    // looked at.
    int64_t reach = size;
    std::vector<bool> tells;
    for (const LinearTerm& term : sum->terms) {
      const tensor::Interval range = pool_[term.node].range;
      if (term.coefficient <= 0 || range.low < 0) return;
      tells.push_back(term.coefficient >= reach);
      int64_t digits = 0;
      if (__builtin_mul_overflow(term.coefficient, range.high, &digits) ||
          __builtin_add_overflow(reach, digits, &reach)) {
        reach = INT64_MAX;
      }
    }
    // A term follows from the sum only if all larger terms do.
    for (size_t i = tells.size(); i-- > 0;) {
      if (!tells[i]) break;
      known_.insert(sum->terms[i].node);
    }
  }

  // Looks for a value x of which x floordiv c and x mod c are both known, and
  // adds x to the known values. Returns false if there is no such x left.
  bool JoinDigits() {
    for (const NodeId id : std::vector<NodeId>(known_.begin(), known_.end())) {
      if (pool_[id].opcode != Opcode::kModulo) continue;
      const std::vector<NodeId> operands = pool_[id].operands;
      if (known_.contains(operands[0])) continue;
      const NodeId quotient = tensor::Simplifier(pool_).Make(
          Opcode::kFloorDivide, DType::kI64, operands);
      if (!known_.contains(quotient) && !pool_.IsConstant(quotient)) continue;
      known_.insert(operands[0]);
      AddSum(operands[0], 1);
      return true;
    }
    return false;
  }

  tensor::ExpressionPool& pool_;
  std::set<NodeId> known_;
};

}  // namespace

std::vector<AxisRegion> CoveredRegions(const Schedule& schedule, int stage,
                                       const LoopBody& body,
                                       std::span<const NodeId> full,
                                       Rewriter& header,
                                       loops::LoopNest& nest) {
  const Computation& computation = schedule.computation();
  const auto whole = [&](NodeId extent) {
    return AxisRegion{nest.pool.Integer(0), extent, std::nullopt};
  };
  const ComputationStage& computed = computation.stages[stage];
  std::vector<AxisRegion> regions;
  for (const ComputationStore& store : computed.stores) {
    const std::vector<NodeId> extents =
        header.Rewrite(computation.buffers[store.buffer].extents);
    std::vector<AxisRegion> read =
        RegionRead(computation, store.buffer, body, extents, nest);
    if (regions.empty()) {
      regions = std::move(read);
      continue;
    }
    // If several results of the stage are needed, each in another part, the
    // stage covers the whole axis.
    for (size_t d = 0; d < regions.size(); ++d) {
      if (regions[d].base != read[d].base ||
          regions[d].extent != read[d].extent || regions[d].needed ||
          read[d].needed) {
        regions[d] = whole(extents[d]);
      }
    }
  }
  if (StoresResult(computation, stage)) {
    // A result of the dispatch must be computed whole. The stage may cover a
    // part of an axis only if other iterations of the surrounding loops cover
    // the rest.
    const std::vector<int> axes =
        AxesOfReader(schedule, stage, schedule.plan(stage).attach_stage);
    for (size_t d = 0; d < regions.size(); ++d) {
      regions[d].needed.reset();
      if (axes[d] < 0 || nest.pool.IsConstant(regions[d].base))
        regions[d] = whole(full[d]);
    }
  }
  for (size_t a = computed.spatial_count; a < computed.axes.size(); ++a)
    regions.push_back(whole(full[a]));
  return regions;
}

StatusOr<PlacedStages> PlaceStages(const Schedule& schedule,
                                   const StageLoops& around, int position,
                                   std::span<const std::vector<NodeId>> full,
                                   const RegionChange& change, Rewriter& header,
                                   loops::LoopNest& nest) {
  const auto is_attached = [&](int stage) {
    const StagePlan& plan = schedule.plan(stage);
    return plan.attach_stage == around.stage &&
           plan.attach_loop == around.plan->order[position];
  };
  PlacedStages placed;
  // The stages that are computed in the loop: those attached to it, and those
  // attached to loops of these stages.
  std::vector<int> inside;
  for (int i = 0; i < around.stage; ++i) {
    if (PositionInside(schedule, i, around.stage) >= position)
      inside.push_back(i);
    if (is_attached(i)) placed.attached.push_back(i);
  }
  if (placed.attached.empty()) return placed;
  LoopBody body;
  body.stages.push_back(&around);
  for (size_t i = position + 1; i < around.plan->order.size(); ++i)
    body.moving.insert(around.values[around.plan->order[i]]);
  // Visits the last stage first, because the part that a stage covers depends
  // on the stages that read it.
  for (size_t i = inside.size(); i-- > 0;) {
    const int stage = inside[i];
    std::vector<AxisRegion> regions =
        CoveredRegions(schedule, stage, body, full[stage], header, nest);
    if (is_attached(stage) && change) change(stage, regions);
    EMBER_ASSIGN_OR_RETURN(placed.loops[stage],
                           MakeStageLoops(schedule, stage, regions, full[stage],
                                          is_attached(stage), nest));
    ShortenLoops(schedule.computation(), placed.loops[stage], nest);
    body.stages.push_back(&placed.loops[stage]);
    for (int loop : schedule.plan(stage).order)
      body.moving.insert(placed.loops[stage].values[loop]);
  }
  return placed;
}

Status CheckPartsAreOwn(const Computation& computation,
                        const PlacedStages& placed,
                        std::span<const NodeId> variables,
                        loops::LoopNest& nest) {
  for (const int stage : placed.attached) {
    if (!MustRunOnce(computation, stage)) continue;
    KnownFromParts known(nest.pool);
    const std::vector<AxisRegion>& regions = placed.loops.at(stage).regions;
    for (int d = 0; d < computation.stages[stage].spatial_count; ++d)
      known.Add(regions[d]);
    for (const NodeId variable : variables) {
      if (nest.pool[variable].range.high < 1 || known.Contains(variable))
        continue;
      const std::string name = "%" + computation.stages[stage].name;
      return FailedPreconditionError(
          StoresResult(computation, stage)
              ? "parts of " + name +
                    " would be computed more than once, and it is a result"
              : name +
                    " reads an input that a result may overwrite in an "
                    "earlier iteration");
    }
  }
  return OkStatus();
}

namespace {

// Visits the stages and loops in the order of lowering, without adding them to
// a nest.
class PartsCheck {
 public:
  explicit PartsCheck(const Schedule& schedule)
      : schedule_(schedule),
        c_(schedule.computation()),
        header_(c_.pool, nest_.pool,
                [](NodeId) -> std::optional<NodeId> { return std::nullopt; }) {}

  Status Run() {
    const int count = static_cast<int>(c_.stages.size());
    std::set<int> roots;
    for (int i = 0; i < count; ++i) {
      if (schedule_.plan(i).attach_stage < 0 || !MustRunOnce(c_, i)) continue;
      int root = i;
      while (schedule_.plan(root).attach_stage >= 0)
        root = schedule_.plan(root).attach_stage;
      roots.insert(root);
    }
    if (roots.empty()) return OkStatus();
    for (const ComputationStage& stage : c_.stages) {
      std::vector<NodeId>& full = full_.emplace_back();
      for (const ComputationAxis& axis : stage.axes)
        full.push_back(header_.Rewrite(axis.extent));
    }
    for (const int root : roots) {
      std::vector<AxisRegion> regions;
      for (NodeId extent : full_[root])
        regions.push_back({nest_.pool.Integer(0), extent, std::nullopt});
      const StatusOr<StageLoops> s =
          MakeStageLoops(schedule_, root, std::move(regions), full_[root],
                         /*is_placed=*/true, nest_);
      // Loops that cannot be made are skipped here, because lowering returns
      // the error for them.
      if (s.ok()) EMBER_RETURN_IF_ERROR(Visit(*s));
    }
    return OkStatus();
  }

 private:
  Status Visit(const StageLoops& s) {
    const size_t outside = variables_.size();
    for (size_t p = 0; p < s.plan->order.size(); ++p) {
      const NodeId variable = s.values[s.plan->order[p]];
      if (nest_.pool[variable].opcode == Opcode::kAxis)
        variables_.push_back(variable);
      const StatusOr<PlacedStages> placed = PlaceStages(
          schedule_, s, static_cast<int>(p), full_, nullptr, header_, nest_);
      if (!placed.ok()) break;
      EMBER_RETURN_IF_ERROR(CheckPartsAreOwn(c_, *placed, variables_, nest_));
      for (const int stage : placed->attached)
        EMBER_RETURN_IF_ERROR(Visit(placed->loops.at(stage)));
    }
    variables_.resize(outside);
    return OkStatus();
  }

  const Schedule& schedule_;
  const Computation& c_;
  loops::LoopNest nest_;
  Rewriter header_;
  std::vector<std::vector<NodeId>> full_;
  std::vector<NodeId> variables_;
};

}  // namespace

Status CheckPartsAreOwn(const Schedule& schedule) {
  return PartsCheck(schedule).Run();
}

}  // namespace ember::schedule

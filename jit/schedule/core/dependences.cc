
#include "jit/schedule/core/dependences.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Opcode;

bool IsUnit(const ExpressionPool& pool, NodeId extent) {
  return pool[extent].range.high <= 1;
}

// Returns the terms of an index, axes with factors (its digits), smallest
// factor first, without axes of at most one point. nullopt if it is no sum of
// axes, or if two points of the axes may give the same value: each factor must
// exceed the largest sum of the terms with smaller factors.
std::optional<std::vector<LinearTerm>> DigitsOf(const ExpressionPool& pool,
                                                NodeId index) {
  std::optional<LinearSum> sum = tensor::Linearize(pool, index);
  // If the sum's range is not known, the sum might wrap, so that two points of
  // the axes give the same index.
  if (!sum || tensor::RangeOfLinear(pool, *sum).IsFull()) return std::nullopt;
  std::vector<LinearTerm> digits;
  for (const LinearTerm& term : sum->terms) {
    if (pool[term.node].opcode != Opcode::kAxis) return std::nullopt;
    if (!IsUnit(pool, pool[term.node].operands[0])) digits.push_back(term);
  }
  std::sort(digits.begin(), digits.end(),
            [](const LinearTerm& a, const LinearTerm& b) {
              return std::abs(a.coefficient) < std::abs(b.coefficient);
            });
  for (size_t i = 0; i + 1 < digits.size(); ++i) {
    const int64_t extent = pool[digits[i].node].range.high + 1;
    int64_t reach = 0;
    if (__builtin_mul_overflow(std::abs(digits[i].coefficient), extent,
                               &reach) ||
        std::abs(digits[i + 1].coefficient) < reach) {
      return std::nullopt;
    }
  }
  return digits;
}

bool StoreIsDistinct(const Computation& computation,
                     const ComputationStage& stage,
                     const ComputationStore& store) {
  const ExpressionPool& pool = computation.pool;
  std::set<NodeId> told;
  for (NodeId index : store.indices) {
    if (const auto digits = DigitsOf(pool, index)) {
      for (const LinearTerm& digit : *digits) told.insert(digit.node);
    }
  }
  return std::all_of(
      stage.axes.begin(), stage.axes.begin() + stage.spatial_count,
      [&](const ComputationAxis& axis) {
        return IsUnit(pool, axis.extent) || told.contains(axis.variable);
      });
}

// True if the index takes every value from 0 to extent - 1 while its axes
// iterate, each value once.
bool CoversDim(const ExpressionPool& pool, NodeId index, NodeId extent) {
  if (pool[index].opcode == Opcode::kAxis)
    return pool[index].operands[0] == extent;
  const auto digits = DigitsOf(pool, index);
  if (!digits || pool[index].range.low != 0) return false;
  int64_t next = 1;
  for (const LinearTerm& digit : *digits) {
    const std::optional<int64_t> count =
        pool.IntegerConstant(pool[digit.node].operands[0]);
    if (digit.coefficient != next || !count) return false;
    next *= *count;
  }
  return pool.IntegerConstant(extent) == next;
}

// True if no empty axis keeps the stage from storing elements of the buffer.
// DigitsOf leaves out axes of at most one point, so they are checked here. If
// such an axis has no point, the stage stores nothing, which is right only if
// the axis indexes a dim of the same extent: that dim then has no element.
bool HasItsPoints(const Computation& computation, const ComputationStage& stage,
                  const ComputationStore& store) {
  const ExpressionPool& pool = computation.pool;
  const std::vector<NodeId>& extents =
      computation.buffers[store.buffer].extents;
  return std::all_of(
      stage.axes.begin(), stage.axes.begin() + stage.spatial_count,
      [&](const ComputationAxis& axis) {
        if (!IsUnit(pool, axis.extent) || pool[axis.extent].range.low >= 1)
          return true;
        for (size_t d = 0; d < store.indices.size(); ++d) {
          if (store.indices[d] == axis.variable && extents[d] == axis.extent)
            return true;
        }
        return false;
      });
}

}  // namespace

bool StoresAreDistinct(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  return std::all_of(stage.stores.begin(), stage.stores.end(),
                     [&](const ComputationStore& store) {
                       return StoreIsDistinct(computation, stage, store);
                     });
}

bool StoresCover(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  if (!StoresAreDistinct(computation, number)) return false;
  // An axis may occur in the index of one dim only. Otherwise two indices
  // depend on each other, and not all their combinations are stored.
  std::set<NodeId> used;
  for (const ComputationStore& store : stage.stores) {
    if (store.update != tensor::Update::kAssign ||
        !HasItsPoints(computation, stage, store))
      return false;
    used.clear();
    for (size_t d = 0; d < store.indices.size(); ++d) {
      if (!CoversDim(computation.pool, store.indices[d],
                     computation.buffers[store.buffer].extents[d])) {
        return false;
      }
      const auto digits = DigitsOf(computation.pool, store.indices[d]);
      if (!digits) return false;
      for (const LinearTerm& digit : *digits) {
        if (!used.insert(digit.node).second) return false;
      }
    }
  }
  return true;
}

namespace {

// The elements low .. high of a dim, both included.
struct Interval {
  int64_t low = 0;
  int64_t high = -1;
};

// Returns the values that the index takes, if they are all integers between the
// smallest and the largest.
std::optional<Interval> ValuesOf(const ExpressionPool& pool, NodeId index) {
  const std::optional<LinearSum> sum = tensor::Linearize(pool, index);
  const auto digits = DigitsOf(pool, index);
  if (!sum || !digits) return std::nullopt;
  int64_t next = 1;
  for (const LinearTerm& digit : *digits) {
    const std::optional<int64_t> count =
        pool.IntegerConstant(pool[digit.node].operands[0]);
    if (digit.coefficient != next || !count) return std::nullopt;
    next *= *count;
  }
  const auto low = static_cast<int64_t>(sum->constant);
  return Interval{low, low + next - 1};
}

// The part of a buffer that a store covers: the elements `values` of dim `dim`,
// and all elements of the other dims. If `dim` is -1, the whole buffer.
struct CoveredPart {
  int dim = -1;
  Interval values;
};
std::optional<CoveredPart> PartOf(const Computation& c,
                                  const ComputationStage& stage,
                                  const ComputationStore& store) {
  if (store.update != tensor::Update::kAssign ||
      !StoreIsDistinct(c, stage, store) || !HasItsPoints(c, stage, store)) {
    return std::nullopt;
  }
  CoveredPart part;
  std::set<NodeId> used;
  for (size_t d = 0; d < store.indices.size(); ++d) {
    const auto digits = DigitsOf(c.pool, store.indices[d]);
    if (!digits) return std::nullopt;
    // An axis may occur in the index of one dim only. Otherwise two indices
    // depend on each other, and not all their combinations are stored.
    for (const LinearTerm& digit : *digits) {
      if (!used.insert(digit.node).second) return std::nullopt;
    }
    if (CoversDim(c.pool, store.indices[d], c.buffers[store.buffer].extents[d]))
      continue;
    const std::optional<Interval> values = ValuesOf(c.pool, store.indices[d]);
    if (!values || part.dim >= 0) return std::nullopt;
    part = {static_cast<int>(d), *values};
  }
  return part;
}

}  // namespace

bool IsStoredWhole(const Computation& c, uint32_t buffer) {
  std::vector<Interval> parts;
  int dim = -1;
  for (int i = 0; i < static_cast<int>(c.stages.size()); ++i) {
    // Only stores before the first stage that reads the buffer count.
    if (Reads(c, i, buffer)) break;
    for (const ComputationStore& store : c.stages[i].stores) {
      if (store.buffer != buffer) continue;
      const std::optional<CoveredPart> part = PartOf(c, c.stages[i], store);
      if (!part) continue;
      if (part->dim < 0) return true;
      // All collected parts are intervals of the same dim, so that their union
      // is easy to find. A part along another dim is left out.
      if (dim >= 0 && part->dim != dim) continue;
      dim = part->dim;
      parts.push_back(part->values);
    }
  }
  if (dim < 0) return false;
  std::ranges::sort(parts, {}, &Interval::low);
  int64_t next = 0;
  for (const Interval& part : parts) {
    if (part.low > next) return false;
    next = std::max(next, part.high + 1);
  }
  const std::optional<int64_t> extent =
      c.pool.IntegerConstant(c.buffers[buffer].extents[dim]);
  return extent && next >= *extent;
}

bool StoresAreIdentity(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  for (const ComputationStore& store : stage.stores) {
    const ComputationBuffer& buffer = computation.buffers[store.buffer];
    if (store.update != tensor::Update::kAssign ||
        static_cast<int>(store.indices.size()) != stage.spatial_count) {
      return false;
    }
    for (size_t d = 0; d < store.indices.size(); ++d) {
      if (store.indices[d] != stage.axes[d].variable ||
          buffer.extents[d] != stage.axes[d].extent) {
        return false;
      }
    }
  }
  return true;
}

int PositionInside(const Schedule& schedule, int stage, int around) {
  while (true) {
    const StagePlan& plan = schedule.plan(stage);
    if (plan.attach_stage < 0) return -1;
    if (plan.attach_stage == around)
      return schedule.plan(around).PositionOf(plan.attach_loop);
    stage = plan.attach_stage;
  }
}

bool Reads(const Computation& computation, int stage, uint32_t buffer) {
  bool found = false;
  ForEachLoad(
      computation.pool, RootsOf(computation.stages[stage]),
      [&](NodeId load) { found |= computation.pool[load].buffer == buffer; });
  return found;
}

std::vector<int> ConsumersOf(const Computation& computation, int stage) {
  std::vector<int> consumers;
  for (int i = stage + 1; i < static_cast<int>(computation.stages.size());
       ++i) {
    const auto& stores = computation.stages[stage].stores;
    if (std::any_of(stores.begin(), stores.end(), [&](const auto& store) {
          return Reads(computation, i, store.buffer);
        })) {
      consumers.push_back(i);
    }
  }
  return consumers;
}

bool StoresResult(const Computation& computation, int stage) {
  return std::ranges::any_of(
      computation.stages[stage].stores, [&](const auto& store) {
        return computation.buffers[store.buffer].role == BufferRole::kOutput;
      });
}

bool ReadsOverwritten(const Computation& computation, int stage) {
  bool found = false;
  ForEachLoad(
      computation.pool, RootsOf(computation.stages[stage]), [&](NodeId load) {
        const ComputationBuffer& buffer =
            computation.buffers[computation.pool[load].buffer];
        found |= buffer.role == BufferRole::kInput && buffer.may_be_overwritten;
      });
  return found;
}

bool MustRunOnce(const Computation& computation, int stage) {
  return StoresResult(computation, stage) ||
         ReadsOverwritten(computation, stage);
}

bool IsSafe(const Computation& computation, NodeId load) {
  const tensor::Node& node = computation.pool[load];
  if (node.opcode == Opcode::kPad) return true;
  const auto& extents = computation.buffers[node.buffer].extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!tensor::ProvablyInBounds(computation.pool, node.operands[d],
                                  extents[d]))
      return false;
  }
  return true;
}

bool AccessesAreSafe(const Computation& computation, int number) {
  const ComputationStage& stage = computation.stages[number];
  bool safe = true;
  ForEachLoad(computation.pool, RootsOf(stage),
              [&](NodeId load) { safe &= IsSafe(computation, load); });
  return safe;
}

namespace {

Status CheckParallelIsOutermost(const Schedule& schedule, int stage) {
  const StagePlan& plan = schedule.plan(stage);
  for (size_t i = 0; i < plan.order.size(); ++i) {
    const Loop& loop = plan.loops[plan.order[i]];
    if (loop.mark != LoopMark::kParallel) continue;
    if (i != 0) {
      return FailedPreconditionError("parallel loop '" + loop.name +
                                     "' is not the outermost one");
    }
    if (plan.attach_stage >= 0) {
      return FailedPreconditionError(
          "the stage is computed inside another one's loop");
    }
  }
  return OkStatus();
}

// Returns the number of a stage that is attached to the loop at position
// `position` of the stage, or to a loop inside that one; -1 if there is none.
int StageInside(const Schedule& schedule, int stage, int position) {
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    const StagePlan& inner = schedule.plan(i);
    if (inner.attach_stage == stage &&
        schedule.plan(stage).PositionOf(inner.attach_loop) >= position) {
      return i;
    }
  }
  return -1;
}

Status CheckInsideVector(const Schedule& schedule, int stage) {
  const StagePlan& plan = schedule.plan(stage);
  const Loop* vector = nullptr;
  for (size_t i = 0; i < plan.order.size(); ++i) {
    const Loop& loop = plan.loops[plan.order[i]];
    if (vector == nullptr) {
      if (loop.mark != LoopMark::kVector) continue;
      vector = &loop;
      const int inside = StageInside(schedule, stage, static_cast<int>(i));
      if (inside < 0) continue;
      return FailedPreconditionError(
          "%" + schedule.computation().stages[inside].name +
          " is computed inside vector loop '" + loop.name + "'");
    }
    if (loop.mark == LoopMark::kVector) {
      return FailedPreconditionError("loop '" + loop.name +
                                     "' inside vector loop '" + vector->name +
                                     "' is a vector loop, too");
    }
    if (IsBound(loop.mark)) {
      return FailedPreconditionError("bound loop '" + loop.name +
                                     "' is inside vector loop '" +
                                     vector->name + "'");
    }
    const bool combines = loop.is_reduction && loop.mark != LoopMark::kDot;
    if (combines && !vector->is_reduction) {
      return FailedPreconditionError("loop '" + loop.name +
                                     "' inside vector loop '" + vector->name +
                                     "' combines elements into one");
    }
  }
  return OkStatus();
}

// Returns the outermost bound loop among the stage's loops from the outermost
// to loop `last` (-1: all loops); null if none is bound.
const Loop* BoundLoopOf(const StagePlan& plan, int last) {
  for (int loop : plan.order) {
    if (IsBound(plan.loops[loop].mark)) return &plan.loops[loop];
    if (loop == last) break;
  }
  return nullptr;
}

Status CheckInsideBound(const Schedule& schedule, int stage) {
  const StagePlan& plan = schedule.plan(stage);
  const Loop* const bound = BoundLoopOf(plan, -1);
  if (bound == nullptr) return OkStatus();
  for (int loop : plan.order) {
    const Loop& other = plan.loops[loop];
    if (!IsBound(other.mark) || &other == bound) continue;
    return FailedPreconditionError("loop '" + other.name +
                                   "' inside bound loop '" + bound->name +
                                   "' is bound, too");
  }
  for (int loop : plan.order) {
    const Loop& other = plan.loops[loop];
    if (!bound->is_reduction || !other.is_reduction ||
        other.mark != LoopMark::kVector) {
      continue;
    }
    return FailedPreconditionError("elements are combined by lanes of loop '" +
                                   other.name + "' and invocations of loop '" +
                                   bound->name + "'");
  }
  const StagePlan* inner = &plan;
  while (inner->attach_stage >= 0) {
    const StagePlan& around = schedule.plan(inner->attach_stage);
    const Loop* const outer = BoundLoopOf(around, inner->attach_loop);
    if (outer != nullptr) {
      return FailedPreconditionError(
          "%" + schedule.computation().stages[stage].name +
          ", which has bound loop '" + bound->name +
          "', is computed inside bound loop '" + outer->name + "'");
    }
    inner = &around;
  }
  return OkStatus();
}

// Returns the numbers of the loops in `plan.order`, ordered as they must be
// nested to visit the stage's points in the order of its axes.
std::vector<int> LoopsInOrder(const StagePlan& plan) {
  std::vector<int> loops;
  for (size_t i = 0; i < plan.loops.size(); ++i) {
    const Loop& loop = plan.loops[i];
    const int number = static_cast<int>(i);
    const auto parent = std::find(loops.begin(), loops.end(), loop.parent);
    switch (loop.origin) {
      case Loop::Origin::kAxis:
        loops.push_back(number);
        break;
      case Loop::Origin::kOuter:
        // The two loops that a split makes have consecutive numbers: the outer
        // one, then the inner one.
        *parent = number;
        loops.insert(std::find(loops.begin(), loops.end(), number) + 1,
                     number + 1);
        break;
      case Loop::Origin::kInner:
        break;
      case Loop::Origin::kFused:
        *parent = number;
        std::erase(loops, loop.second);
        break;
    }
  }
  return loops;
}

}  // namespace

Status CheckMarkedLoops(const Schedule& schedule, int stage) {
  EMBER_RETURN_IF_ERROR(CheckParallelIsOutermost(schedule, stage));
  EMBER_RETURN_IF_ERROR(CheckInsideVector(schedule, stage));
  return CheckInsideBound(schedule, stage);
}

Status CheckFolds(const Schedule& schedule, int stage) {
  const bool is_fold =
      schedule.computation().stages[stage].combiner == tensor::Combiner::kFold;
  if (!is_fold) return OkStatus();
  const StagePlan& plan = schedule.plan(stage);
  const auto is_spatial = [&](int loop) {
    return !plan.loops[loop].is_reduction;
  };
  std::vector<int> wanted = LoopsInOrder(plan), found = plan.order;
  std::erase_if(wanted, is_spatial);
  std::erase_if(found, is_spatial);
  for (size_t k = 0; k < found.size(); ++k) {
    if (wanted[k] == found[k]) continue;
    return FailedPreconditionError(
        "a fold combines its elements in the order of its axes: loop '" +
        plan.loops[wanted[k]].name + "' has to stay outside loop '" +
        plan.loops[found[k]].name + "'");
  }
  return OkStatus();
}

Status CheckMark(const Schedule& schedule, int stage, int number) {
  const Loop& loop = schedule.plan(stage).loops[number];
  const ComputationStage& computed = schedule.computation().stages[stage];
  if (loop.mark == LoopMark::kParallel && loop.is_reduction) {
    return FailedPreconditionError("loop '" + loop.name +
                                   "' combines elements into one");
  }
  const bool at_once = loop.mark == LoopMark::kParallel ||
                       loop.mark == LoopMark::kVector ||
                       loop.mark == LoopMark::kMatrix || IsBound(loop.mark);
  if (at_once && loop.is_reduction &&
      computed.combiner == tensor::Combiner::kFold) {
    return FailedPreconditionError(
        "a fold combines its elements one after another");
  }
  if (at_once && !loop.is_reduction &&
      !StoresAreDistinct(schedule.computation(), stage)) {
    return FailedPreconditionError(
        "points of the stage may store to one element");
  }
  return OkStatus();
}

}  // namespace ember::schedule


#include "jit/schedule/lowering/lowering.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/walk.h"
#include "jit/schedule/core/attached_stages.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/facts.h"
#include "jit/schedule/core/loop_bounds.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/core/shorten_loops.h"
#include "jit/schedule/core/stage_loops.h"
#include "jit/schedule/lowering/accumulators.h"
#include "jit/schedule/lowering/carried_sums.h"
#include "jit/schedule/lowering/load_ahead.h"
#include "jit/schedule/lowering/matrix_regions.h"
#include "jit/schedule/lowering/stage_values.h"
#include "jit/schedule/lowering/zero_fills.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::LoopNest;
using loops::MemoryScope;
using loops::Phase;
using loops::Statement;
using loops::Store;
using tensor::Combiner;
using tensor::Opcode;
using tensor::Update;

// A part of a stage's code, such as the initialisation of its results. Each
// part has loops over some of the stage's loops, and its own set of guards.
enum class Part : uint8_t {
  kOuter,  // The loops around the reductions, or all loops if there are no
           // reductions.
  // The loops that set the accumulators to their initial values. They read no
  // operands and store no results.
  kInitial,
  kUpdate,  // The outermost reduction loop, and all loops inside of it.
  // The loops that add totals to accumulators. They skip results beyond the end
  // of an axis, and read no operands.
  kTotals,
  // The loops that combine what several lanes or invocations have computed for
  // each result.
  kCombine,
  kFinal  // The loops that store the stage's results, after all reductions.
};

class Lowering {
 public:
  explicit Lowering(const Schedule& schedule)
      : schedule_(schedule),
        c_(schedule.computation()),
        header_(c_.pool, nest_.pool,
                [](NodeId) -> std::optional<NodeId> { return std::nullopt; }),
        facts_(nest_.pool) {}

  StatusOr<StageNest> Run() {
    nest_.name = c_.name;
    nest_.parameters = c_.parameters;
    for (const ComputationBuffer& buffer : c_.buffers) AddBuffer(buffer);
    nest_.extents = header_.Rewrite(c_.checked_extents);
    for (const ComputationStage& stage : c_.stages) {
      std::vector<NodeId>& full = full_.emplace_back();
      for (const ComputationAxis& axis : stage.axes)
        full.push_back(header_.Rewrite(axis.extent));
    }
    // Shortened loops end at sums of parameters, so the ranges of parameters
    // matter: they are narrowed by the extents.
    const bool is_shortened = std::ranges::any_of(
        c_.stages,
        [](const ComputationStage& s) { return s.useful.has_value(); });
    if (is_shortened) {
      for (const std::vector<NodeId>& extents : full_)
        RefineParameters(extents, nest_.pool);
    }
    storage_.resize(c_.buffers.size());
    AddZeroFills(c_, nest_);
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      if (schedule_.plan(i).attach_stage < 0)
        EMBER_RETURN_IF_ERROR(LowerRoot(i));
    }
    return StageNest{.nest = std::move(nest_),
                     .has_invocations = has_invocations_,
                     .totals = std::move(totals_)};
  }

 private:
  using Leaf = std::function<Status(Block&)>;

  NodeId Make(Opcode opcode, DType type, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest_.pool).Make(opcode, type, operands);
  }
  bool IsVariable(NodeId id) const {
    return nest_.pool[id].opcode == Opcode::kAxis;
  }

  // --- buffers ---

  void AddBuffer(const ComputationBuffer& buffer) {
    loops::Buffer added;
    added.name = buffer.name;
    added.type = buffer.type;
    added.scope = buffer.role == BufferRole::kInput    ? MemoryScope::kInput
                  : buffer.role == BufferRole::kOutput ? MemoryScope::kOutput
                  : buffer.role == BufferRole::kPacked ? MemoryScope::kPacked
                                                       : MemoryScope::kCall;
    added.extents = header_.Rewrite(buffer.extents);
    nest_.buffers.push_back(std::move(added));
  }

  // --- stages ---

  Status LowerRoot(int stage) {
    std::vector<AxisRegion> regions;
    for (NodeId extent : full_[stage])
      regions.push_back({nest_.pool.Integer(0), extent, std::nullopt});
    EMBER_ASSIGN_OR_RETURN(
        StageLoops s, MakeStageLoops(schedule_, stage, std::move(regions),
                                     full_[stage], /*is_placed=*/true, nest_));
    ShortenLoops(c_, s, nest_);
    Phase phase;
    const StagePlan& plan = schedule_.plan(stage);
    const bool parallel =
        !plan.order.empty() &&
        plan.loops[plan.order[0]].mark == LoopMark::kParallel &&
        IsVariable(s.values[plan.order[0]]);
    phase.task = parallel ? s.values[plan.order[0]]
                          : AddVariable(nest_, "task", nest_.pool.Integer(1));
    variables_.push_back(phase.task);
    EMBER_RETURN_IF_ERROR(EmitStage(s, parallel, phase.body));
    variables_.pop_back();
    const bool prologue = c_.buffers[c_.stages[stage].stores[0].buffer].role ==
                          BufferRole::kPacked;
    (prologue ? nest_.prologue : nest_.phases).push_back(std::move(phase));
    return OkStatus();
  }

  // Emits the loops and statements of a stage. If first_is_task is true, the
  // stage's outermost loop is the phase's loop over tasks, which exists
  // already: only its body is emitted.
  Status EmitStage(const StageLoops& s, bool first_is_task, Block& out) {
    std::vector<int> outer;
    outer.reserve(s.plan->order.size());
    for (int i = 0; i < s.FirstReduction(); ++i) outer.push_back(i);
    const Leaf leaf = [&](Block& block) {
      return c_.stages[s.stage].has_reduction() ? EmitReduction(s, block)
                                                : EmitPoint(s, block);
    };
    const size_t facts = facts_.size();
    Block* block = &out;
    for (const Guard& guard : s.guards) {
      if (guard.position < 0) block = OpenGuard(guard, *block);
    }
    const Status status =
        first_is_task ? EmitInside(s, outer, 0, Part::kOuter, leaf, *block)
                      : EmitLoops(s, outer, 0, Part::kOuter, leaf, *block);
    facts_.Truncate(facts);
    return status;
  }

  Status EmitLoops(const StageLoops& s, const std::vector<int>& positions,
                   size_t index, Part part, const Leaf& leaf, Block& out) {
    if (index == positions.size()) return leaf(out);
    const int number = s.plan->order[positions[index]];
    const NodeId variable = s.values[number];
    if (!IsVariable(variable))
      return EmitInside(s, positions, index, part, leaf, out);
    Statement loop;
    loop.kind = Statement::Kind::kFor;
    loop.variable = variable;
    const LoopMark mark = s.plan->loops[number].mark;
    // A loop with no iterations becomes serial, because the other kinds of
    // loops need at least one. So does a vectorized reduction in the part that
    // combines invocations: each invocation then combines its lanes one after
    // the other.
    const bool is_serial =
        nest_.pool.IntegerConstant(s.extents[number]) == 0 ||
        (mark == LoopMark::kVector && part == Part::kCombine);
    if (!is_serial) loop.loop = LoopKindOf(mark);
    const bool binds = loops::IsInvocationLoop(loop);
    if (binds) invocation_ = variable;
    has_invocations_ |= binds;
    variables_.push_back(variable);
    EMBER_RETURN_IF_ERROR(
        EmitInside(s, positions, index, part, leaf, loop.body));
    variables_.pop_back();
    if (binds) invocation_.reset();
    // A dot loop that has got a guard or a check inside is no dot product any
    // more, so it becomes an unrolled loop.
    if (loop.loop == loops::LoopKind::kDot &&
        !loops::DotProductOf(nest_, loop).ok()) {
      loop.loop = loops::LoopKind::kUnrolled;
    }
    if (part == Part::kOuter || part == Part::kUpdate)
      LoadAhead(TilesAhead(schedule_, s.stage, number), loop, out, nest_);
    if (part == Part::kUpdate)
      EMBER_RETURN_IF_ERROR(CarryAt(s, positions[index], loop.body));
    out.push_back(std::move(loop));
    return OkStatus();
  }

  // Inserts statements at the start of the body of a reduction loop that carry
  // the accumulators to their totals in some iterations.
  Status CarryAt(const StageLoops& s, int position, Block& body) {
    const CarriedSums& carried = carried_[s.stage];
    Block before;
    for (const CarriedSums::CarryLoop& loop : carried.loops) {
      if (loop.position == position)
        EMBER_RETURN_IF_ERROR(
            EmitTotals(s, position, loop.conditions, carried.carry, before));
    }
    body.insert(body.begin(), before.begin(), before.end());
    return OkStatus();
  }

  // Emits the block (statements that carry, clear or finish one total) in loops
  // over all accumulators whose loops are inside the loop at `position`; -1:
  // over all accumulators. Results beyond the end of an axis are left out: they
  // are not used, and the code that computes them can then be removed.
  Status EmitTotals(const StageLoops& s, int position,
                    const std::vector<NodeId>& conditions, const Block& block,
                    Block& out) {
    if (block.empty()) return OkStatus();
    Block* inside = &out;
    for (NodeId condition : conditions) inside = OpenIf(condition, *inside);
    std::vector<int> positions;
    for (int p : carried_[s.stage].points) {
      if (p > position) positions.push_back(p);
    }
    return EmitLoops(
        s, positions, 0, Part::kTotals,
        [&](Block& body) {
          body.insert(body.end(), block.begin(), block.end());
          return OkStatus();
        },
        *inside);
  }

  // Emits the body of loop `positions[index]`. If the loop is the innermost one
  // on which the condition of a peeled split depends, the body is emitted
  // twice: without the split's guards if the condition holds, with them
  // otherwise.
  Status EmitInside(const StageLoops& s, const std::vector<int>& positions,
                    size_t index, Part part, const Leaf& leaf, Block& out) {
    std::vector<Guard> exact;
    for (const Guard& guard : s.exact) {
      if (guard.position == positions[index] && part != Part::kInitial &&
          part != Part::kTotals)
        exact.push_back(guard);
    }
    return EmitPeeled(
        exact,
        [&](Block& block) {
          return EmitGuarded(s, positions, index, part, leaf, block);
        },
        out);
  }

  // Emits `leaf` in nested Ifs, once for each combination of true and false
  // conditions.
  Status EmitPeeled(std::span<const Guard> exact, const Leaf& leaf,
                    Block& out) {
    if (exact.empty()) return leaf(out);
    const Guard& guard = exact.front();
    const NodeId condition =
        Make(Opcode::kLess, DType::kBool, guard.a, guard.b);
    const std::optional<int64_t> known = nest_.pool.IntegerConstant(condition);
    if (known == 0) return EmitPeeled(exact.subspan(1), leaf, out);
    const size_t facts = facts_.size();
    facts_.Add(guard.a, guard.b);
    EMBER_RETURN_IF_ERROR(EmitPeeled(exact.subspan(1), leaf,
                                     known ? out : *OpenIf(condition, out)));
    facts_.Truncate(facts);
    if (known) return OkStatus();
    const NodeId otherwise =
        Make(Opcode::kLessEqual, DType::kBool, guard.b, guard.a);
    return EmitPeeled(exact.subspan(1), leaf, *OpenIf(otherwise, out));
  }

  Status EmitGuarded(const StageLoops& s, const std::vector<int>& positions,
                     size_t index, Part part, const Leaf& leaf, Block& out) {
    const size_t facts = facts_.size();
    Block* block = &out;
    const int position = positions[index];
    for (const Guard& guard : s.guards) {
      if (guard.position == position && Applies(s, guard, part))
        block = OpenGuard(guard, *block);
    }
    Status status;
    if (part == Part::kOuter || part == Part::kUpdate)
      status = EmitAttached(s, position, *block);
    if (status.ok())
      status = EmitLoops(s, positions, index + 1, part, leaf, *block);
    facts_.Truncate(facts);
    return status;
  }

  bool Applies(const StageLoops& s, const Guard& guard, Part part) const {
    switch (part) {
      case Part::kOuter:
        return true;
      case Part::kCombine:
        return !guard.is_reduction;
      case Part::kFinal:
        // Matrices are stored whole, without guards: the buffer has room for
        // them, and the elements beyond the end of the axis are never read.
        return !guard.is_reduction &&
               (!guard.is_of_region || !s.plan->MultipliesMatrices() ||
                !StoresToRegions(s.stage));
      case Part::kInitial:
        return false;
      case Part::kTotals:
        return !guard.is_reduction;
      case Part::kUpdate:
        return guard.is_reduction || !AccessesAreSafe(c_, s.stage);
    }
    return true;
  }

  bool StoresToRegions(int stage) const {
    return std::ranges::all_of(c_.stages[stage].stores,
                               [&](const ComputationStore& store) {
                                 return storage_[store.buffer].has_value();
                               });
  }

  Block* OpenIf(NodeId condition, Block& out) {
    Statement branch;
    branch.kind = Statement::Kind::kIf;
    branch.condition = condition;
    out.push_back(std::move(branch));
    return &out.back().body;
  }

  Block* OpenGuard(const Guard& guard, Block& out) {
    const bool is_known = guard.is_fact ? facts_.Has(guard.a, guard.b)
                                        : facts_.IsBelow(guard.a, guard.b);
    if (is_known) return &out;
    facts_.Add(guard.a, guard.b);
    return OpenIf(Make(Opcode::kLess, DType::kBool, guard.a, guard.b), out);
  }

  // --- Emitting the stages that are computed in a loop of another stage. ---

  Status EmitAttached(const StageLoops& s, int position, Block& out) {
    EMBER_ASSIGN_OR_RETURN(
        const PlacedStages placed,
        PlaceStages(
            schedule_, s, position, full_,
            [&](int stage, std::vector<AxisRegion>& regions) {
              if (!StoresResult(c_, stage) &&
                  schedule_.plan(stage).MultipliesMatrices()) {
                FillMatrices(schedule_.plan(stage), regions, nest_.pool);
              }
              KeepRegions(c_, stage, regions, invocation_, nest_, storage_);
            },
            header_, nest_));
    EMBER_RETURN_IF_ERROR(CheckPartsAreOwn(c_, placed, variables_, nest_));
    for (int stage : placed.attached)
      EMBER_RETURN_IF_ERROR(EmitStage(placed.loops.at(stage), false, out));
    return OkStatus();
  }

  // --- Values and stores. ---

  StageValues ValuesAt(const StageLoops& s, bool may_overrun) {
    return StageValues(c_, s, storage_, facts_, may_overrun, nest_);
  }

  Status EmitPoint(const StageLoops& s, Block& out) {
    StageValues values = ValuesAt(s, false);
    return EmitStores(s, values, values.Convert(c_.stages[s.stage].values),
                      out);
  }

  Status EmitStores(const StageLoops& s, StageValues& values,
                    std::vector<NodeId> results, Block& out) {
    const ComputationStage& stage = c_.stages[s.stage];
    Statement statement;
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      const ComputationStore& result = stage.stores[i];
      Store store;
      store.buffer = result.buffer;
      store.indices = values.StoreIndices(result);
      store.value = results[i];
      store.update = result.update;
      if (invocation_ && store.update != tensor::Update::kAssign &&
          !MovesWithInvocations(store)) {
        return FailedPreconditionError(
            "%" + stage.name + ": expected results that move with loop '" +
            nest_.variables[nest_.pool[*invocation_].immediate] +
            "', whose values run at once, found an update of one element");
      }
      statement.stores.push_back(std::move(store));
    }
    values.EmitChecks(out);
    out.push_back(std::move(statement));
    return OkStatus();
  }

  // True if an index of the store depends on the invocation. It does not if the
  // axis has one point although the bound loop has several iterations: then all
  // invocations would store to the same element.
  bool MovesWithInvocations(const Store& store) const {
    return std::ranges::any_of(store.indices, [&](NodeId index) {
      return tensor::DependsOn(nest_.pool, index, *invocation_);
    });
  }

  // --- reductions ---

  NodeId LoadOf(uint32_t buffer, const std::vector<NodeId>& indices) {
    return nest_.pool.Intern(Opcode::kLoad, nest_.buffers[buffer].type, indices,
                             0, 1, buffer);
  }

  Status EmitReduction(const StageLoops& s, Block& out) {
    const ComputationStage& stage = c_.stages[s.stage];
    const Accumulators a = MakeAccumulators(c_, s, invocation_, nest_);
    EMBER_RETURN_IF_ERROR(CheckSum(c_, s, a, nest_));
    if (s.plan->MultipliesMatrices())
      EMBER_RETURN_IF_ERROR(
          HoldInMatrices(c_.stages[s.stage].name, a.buffers[0], nest_));
    const std::vector<int> initial = a.Points();
    EMBER_RETURN_IF_ERROR(EmitLoops(
        s, initial, 0, Part::kInitial,
        [&](Block& block) {
          block.push_back(
              InitialStore(c_, stage, a.buffers, a.lane_indices, nest_));
          return OkStatus();
        },
        out));
    std::vector<int> all(s.plan->order.size() -
                         static_cast<size_t>(s.FirstReduction()));
    std::iota(all.begin(), all.end(), s.FirstReduction());
    CarriedSums& carried = carried_[s.stage];
    carried = CarrySums(c_, s, a, nest_);
    totals_.insert(totals_.end(), carried.buffers.begin(),
                   carried.buffers.end());
    EMBER_RETURN_IF_ERROR(
        EmitTotals(s, -1, carried.conditions, carried.clear, out));
    EMBER_RETURN_IF_ERROR(EmitLoops(
        s, all, 0, Part::kUpdate,
        [&](Block& block) { return EmitUpdate(s, a, block); }, out));
    EMBER_RETURN_IF_ERROR(
        EmitTotals(s, -1, carried.conditions, carried.finish, out));
    if (!a.lanes.empty()) EMBER_RETURN_IF_ERROR(CombineLanes(s, a, out));
    if (a.bound >= 0) EMBER_RETURN_IF_ERROR(CombineInvocations(s, a, out));
    if (a.combines_in_place) return OkStatus();
    const NodeId zero = nest_.pool.Integer(0);
    return EmitLoops(
        s, a.spatial, 0, Part::kFinal,
        [&](Block& block) {
          StageValues values = ValuesAt(s, false);
          std::vector<NodeId> results;
          for (size_t i = 0; i < stage.stores.size(); ++i) {
            const NodeId sum = LoadOf(a.combined[i], a.indices);
            results.push_back(tensor::Simplifier(nest_.pool)
                                  .Make(Opcode::kCast,
                                        c_.pool[stage.values[i]].type,
                                        {&sum, 1}));
          }
          return EmitStores(s, values, std::move(results), block);
        },
        s.end ? *OpenIf(Make(Opcode::kLess, DType::kBool, zero, *s.end), out)
              : out);
  }

  Status EmitUpdate(const StageLoops& s, const Accumulators& a, Block& out) {
    const ComputationStage& stage = c_.stages[s.stage];
    StageValues values = ValuesAt(s, AccessesAreSafe(c_, s.stage));
    std::vector<NodeId> elements = values.Convert(stage.values);
    Statement statement;
    if (stage.combiner == Combiner::kFold) {
      std::vector<NodeId> before;
      before.reserve(a.buffers.size());
      for (uint32_t buffer : a.buffers)
        before.push_back(LoadOf(buffer, a.lane_indices));
      elements = values.ConvertFold(stage.results, before, elements);
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      Store store;
      store.buffer = a.buffers[i];
      store.indices = a.lane_indices;
      store.value = tensor::Simplifier(nest_.pool)
                        .Make(Opcode::kCast, nest_.buffers[a.buffers[i]].type,
                              {&elements[i], 1});
      if (stage.combiner != Combiner::kFold)
        store.update = UpdateOf(stage.combiner);
      statement.stores.push_back(std::move(store));
    }
    values.EmitChecks(out);
    out.push_back(std::move(statement));
    return OkStatus();
  }

  // Combines what the invocations of a bound reduction have computed for each
  // result.
  Status CombineInvocations(const StageLoops& s, const Accumulators& a,
                            Block& out) {
    const ComputationStage& stage = c_.stages[s.stage];
    return EmitLoops(
        s, a.spatial, 0, Part::kCombine,
        [&](Block& block) {
          StageValues values = ValuesAt(s, false);
          std::vector<NodeId> indices = a.indices;
          if (a.combines_in_place) {
            indices = values.StoreIndices(stage.stores[0]);
            values.EmitChecks(block);
          }
          block.push_back(InitialStore(c_, stage, a.combined, indices, nest_));
          Statement loop;
          loop.kind = Statement::Kind::kFor;
          loop.loop = loops::LoopKind::kInvocation;
          loop.variable = s.values[s.plan->order[a.bound]];
          Store store;
          store.buffer = a.combined[0];
          store.indices = std::move(indices);
          store.value = LoadOf(a.buffers[0], a.lane_indices);
          store.update = UpdateOf(stage.combiner);
          Statement statement;
          statement.stores.push_back(std::move(store));
          loop.body.push_back(std::move(statement));
          // A loop without iterations is left out.
          const NodeId extent = nest_.pool[loop.variable].operands[0];
          if (nest_.pool.IntegerConstant(extent) != 0)
            block.push_back(std::move(loop));
          return OkStatus();
        },
        out);
  }

  // Combines the lanes of each accumulator in a separate buffer.
  Status CombineLanes(const StageLoops& s, const Accumulators& a, Block& out) {
    const ComputationStage& stage = c_.stages[s.stage];
    return EmitLoops(
        s, a.spatial, 0, Part::kInitial,
        [&](Block& block) {
          block.push_back(
              InitialStore(c_, stage, a.combined, a.indices, nest_));
          return EmitLoops(
              s, a.lanes, 0, Part::kInitial,
              [&](Block& lanes) {
                Statement statement;
                for (size_t i = 0; i < a.buffers.size(); ++i) {
                  Store store;
                  store.buffer = a.combined[i];
                  store.indices = a.indices;
                  store.value = LoadOf(a.buffers[i], a.lane_indices);
                  store.update = UpdateOf(stage.combiner);
                  statement.stores.push_back(std::move(store));
                }
                lanes.push_back(std::move(statement));
                return OkStatus();
              },
              block);
        },
        out);
  }

  const Schedule& schedule_;
  const Computation& c_;
  LoopNest nest_;
  Rewriter header_;
  Facts facts_;
  // for each stage: the whole extents of its axes
  std::vector<std::vector<NodeId>> full_;
  std::vector<NodeId> variables_;  // variables of the loops around the emitted
                                   // code
  bool has_invocations_ = false;
  std::optional<NodeId> invocation_;  // variable of the surrounding bound loop,
                                      // if there is one
  // for each buffer: the region that the nest keeps of it, if it is computed
  // inside a loop
  std::vector<std::optional<RegionStorage>> storage_;
  // for each stage that is being emitted: how its long sums are carried
  std::map<int, CarriedSums> carried_;
  std::vector<uint32_t> totals_;  // numbers of the buffers of totals
};

}  // namespace

StatusOr<StageNest> LowerStages(const Schedule& schedule) {
  return Lowering(schedule).Run();
}

}  // namespace ember::schedule

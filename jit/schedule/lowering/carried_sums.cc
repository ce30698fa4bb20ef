
#include "jit/schedule/lowering/carried_sums.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/rounding.h"
#include "tensor/builder/simplify.h"
#include "tensor/sum_error.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::Statement;
using loops::Store;
using tensor::kMaxPlainBlocks;
using tensor::kSumBlock;
using tensor::Opcode;

class Carrier {
 public:
  Carrier(const Computation& computation, const StageLoops& s,
          const Accumulators& accumulators, loops::LoopNest& nest)
      : stage_(computation.stages[s.stage]),
        s_(s),
        a_(accumulators),
        nest_(nest),
        type_(nest.buffers[accumulators.buffers[0]].type) {}

  CarriedSums Run() {
    CarriedSums result;
    if (stage_.combiner != tensor::Combiner::kSum || !IsFloat(type_) ||
        s_.plan->MultipliesMatrices()) {
      return result;
    }
    FindLoops();
    if (loops_.empty()) return result;
    is_compensated_ = blocks_ > kMaxPlainBlocks;
    total_ = AddBuffer(".total");
    if (is_compensated_) rest_ = AddBuffer(".rest");
    result.buffers.push_back(total_);
    if (is_compensated_) result.buffers.push_back(rest_);
    result.points = a_.Points();
    result.clear = Clear();
    result.carry = Carry();
    result.finish = Finish();
    AddUnlessTrue(IsLong(), result.conditions);
    for (const SumLoop& loop : loops_) {
      CarriedSums::CarryLoop& added = result.loops.emplace_back();
      added.position = loop.position;
      // If the number of terms is not constant, this cheap condition comes
      // first: it is false for short sums, which then need no division.
      if (!nest_.pool.IntegerConstant(loop.iterations))
        AddUnlessTrue(IsLong(), added.conditions);
      const NodeId variable = s_.values[s_.plan->order[loop.position]];
      const NodeId part =
          Make(Opcode::kModulo, DType::kI64, variable, loop.iterations);
      AddUnlessTrue(
          Make(Opcode::kEqual, DType::kBool, part, nest_.pool.Integer(0)),
          added.conditions);
      added.conditions.push_back(
          Make(Opcode::kLess, DType::kBool, nest_.pool.Integer(0), variable));
    }
    return result;
  }

 private:
  // A loop that carries the accumulator to its total before its iterations n,
  // 2n, ..., where n is `iterations`.
  struct SumLoop {
    int position = 0;
    NodeId iterations = 0;
  };

  NodeId Zero() { return nest_.pool.Constant(0, type_); }
  NodeId Make(Opcode opcode, DType type, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest_.pool).Make(opcode, type, operands);
  }
  NodeId Select(NodeId condition, NodeId a, NodeId b) {
    const NodeId operands[] = {condition, a, b};
    return tensor::Simplifier(nest_.pool)
        .Make(Opcode::kSelect, type_, operands);
  }
  NodeId Add(NodeId a, NodeId b) { return Make(Opcode::kAdd, type_, a, b); }
  NodeId Subtract(NodeId a, NodeId b) {
    return Make(Opcode::kSubtract, type_, a, b);
  }

  // --- Finding the loops in which accumulators are carried. ---

  // True if all iterations of the loop add to the same accumulator: the loop is
  // a reduction that is neither vectorized nor bound. Lanes and invocations
  // have accumulators of their own.
  bool AddsToOne(int position) const {
    const LoopMark mark = s_.plan->loops[s_.plan->order[position]].mark;
    return s_.IsReduction(position) && mark != LoopMark::kVector &&
           !IsBound(mark);
  }

  void FindLoops() {
    // The product of the loops' extents does not wrap, because it counts points
    // of a stage.
    terms_ = nest_.pool.Integer(1);
    // Number of times that the loops found so far carry an accumulator, at
    // most.
    int64_t blocks = 1;
    bool is_open = false;
    for (int p = static_cast<int>(s_.plan->order.size());
         p-- > s_.FirstReduction();) {
      if (!AddsToOne(p)) continue;
      const NodeId extent = s_.whole_extents[s_.plan->order[p]];
      const NodeId inner = terms_;
      terms_ = Make(Opcode::kMultiply, DType::kI64, inner, extent);
      const std::optional<int64_t> count = nest_.pool.IntegerConstant(extent);
      is_open |= !count;
      if (nest_.pool[terms_].range.high <= kSumBlock) continue;
      const bool moves =
          nest_.pool[s_.values[s_.plan->order[p]]].opcode == Opcode::kAxis;
      if (!moves) continue;
      SumLoop loop{p, IterationsOf(inner)};
      const std::optional<int64_t> iterations =
          nest_.pool.IntegerConstant(loop.iterations);
      loops_.push_back(loop);
      if (count && iterations && !is_open) {
        // Each iteration of this loop runs the inner loops, which carry, and
        // the loop itself carries before some of its iterations.
        const int64_t per_iteration = loops_.size() == 1 ? 0 : blocks;
        const int64_t most = int64_t{1} << 20;
        blocks = std::min(*count, most) * std::min(per_iteration, most) +
                 DivideRoundingUp(*count, *iterations);
        blocks = std::min(blocks, most);
      }
    }
    blocks_ = is_open ? kMaxPlainBlocks + 1 : blocks;
  }

  // Returns the largest number of iterations that together add no more than
  // kSumBlock terms, but at least 1. inner: number of terms that one iteration
  // adds.
  NodeId IterationsOf(NodeId inner) {
    if (const std::optional<int64_t> terms = nest_.pool.IntegerConstant(inner))
      return nest_.pool.Integer(
          std::max<int64_t>(kSumBlock / std::max<int64_t>(*terms, 1), 1));
    const NodeId least =
        Make(Opcode::kMaximum, DType::kI64, inner, nest_.pool.Integer(1));
    return Make(Opcode::kMaximum, DType::kI64,
                Make(Opcode::kFloorDivide, DType::kI64,
                     nest_.pool.Integer(kSumBlock), least),
                nest_.pool.Integer(1));
  }

  // Returns the condition that an accumulator adds up more than kSumBlock
  // terms.
  NodeId IsLong() {
    return Make(Opcode::kLess, DType::kBool, nest_.pool.Integer(kSumBlock),
                terms_);
  }

  void AddUnlessTrue(NodeId condition, std::vector<NodeId>& out) const {
    if (nest_.pool.IntegerConstant(condition) != 1) out.push_back(condition);
  }

  // --- statements ---

  uint32_t AddBuffer(const char* what) {
    loops::Buffer buffer = nest_.buffers[a_.buffers[0]];
    buffer.name =
        stage_.name + what + "." + std::to_string(nest_.buffers.size());
    nest_.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(nest_.buffers.size()) - 1;
  }

  NodeId Load(uint32_t buffer) {
    return nest_.pool.Intern(Opcode::kLoad, type_, a_.lane_indices, 0, 1,
                             buffer);
  }
  void StoreTo(uint32_t buffer, NodeId value, Statement& statement,
               tensor::Update update = tensor::Update::kAssign) {
    Store store;
    store.buffer = buffer;
    store.indices = a_.lane_indices;
    store.value = value;
    store.update = update;
    statement.stores.push_back(std::move(store));
  }

  Block Clear() {
    Statement statement;
    StoreTo(total_, Zero(), statement);
    if (is_compensated_) StoreTo(rest_, Zero(), statement);
    return {std::move(statement)};
  }

  // Returns the statements that add the accumulator to its total, as
  // tensor/sum_error.h describes, and set it to 0.
  Block Carry() {
    const uint32_t part = a_.buffers[0];
    Statement statement;
    if (!is_compensated_) {
      StoreTo(total_, Load(part), statement, tensor::Update::kAdd);
      StoreTo(part, Zero(), statement);
      return {std::move(statement)};
    }
    const NodeId sum = Load(total_), x = Load(part);
    const NodeId next = Add(sum, x);
    const NodeId seen = Subtract(next, sum);
    const NodeId lost =
        Add(Subtract(sum, Subtract(next, seen)), Subtract(x, seen));
    const NodeId is_finite =
        Make(Opcode::kEqual, DType::kBool, Subtract(next, next), Zero());
    const NodeId rest = Select(is_finite, Add(Load(rest_), lost), Zero());
    const NodeId total = Add(next, rest);
    StoreTo(total_, total, statement);
    StoreTo(rest_,
            Select(is_finite, Subtract(rest, Subtract(total, next)), Zero()),
            statement);
    StoreTo(part, Zero(), statement);
    return {std::move(statement)};
  }

  Block Finish() {
    const uint32_t part = a_.buffers[0];
    NodeId last = Load(part);
    if (is_compensated_) last = Add(last, Load(rest_));
    Statement statement;
    StoreTo(part, Add(Load(total_), last), statement);
    return {std::move(statement)};
  }

  const ComputationStage& stage_;
  const StageLoops& s_;
  const Accumulators& a_;
  loops::LoopNest& nest_;
  const DType type_;
  std::vector<SumLoop> loops_;  // loops in which the accumulator is carried,
                                // the innermost first
  NodeId terms_ = 0;            // number of terms that one accumulator adds up
  int64_t blocks_ = 0;  // largest number of times that an accumulator is
                        // carried; if not constant, just more than
                        // kMaxPlainBlocks
  bool is_compensated_ = false;
  uint32_t total_ = 0;
  uint32_t rest_ = 0;
};

}  // namespace

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest) {
  return Carrier(computation, loops, accumulators, nest).Run();
}

Status CheckSum(const Computation& computation, const StageLoops& loops,
                const Accumulators& accumulators, const loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[loops.stage];
  if (stage.combiner != tensor::Combiner::kSum ||
      !IsFloat(nest.buffers[accumulators.buffers[0]].type)) {
    return OkStatus();
  }
  const auto check = [&](int64_t terms, int64_t most, const char* where) {
    if (terms <= most) return OkStatus();
    return FailedPreconditionError("%" + stage.name +
                                   ": expected a sum of at most " +
                                   std::to_string(most) + " " + where +
                                   ", found " + std::to_string(terms));
  };
  if (loops.plan->MultipliesMatrices()) {
    int64_t terms = 1;
    for (size_t i = 0; i < stage.axes.size(); ++i) {
      if (static_cast<int>(i) < stage.spatial_count) continue;
      // Counts the whole extent of the axis, even if a point may combine fewer
      // elements (ComputationStage::end).
      const std::optional<int64_t> extent =
          computation.pool.IntegerConstant(stage.axes[i].extent);
      if (__builtin_mul_overflow(terms, extent.value_or(1), &terms))
        terms = INT64_MAX;
    }
    return check(terms, tensor::kMaxMatrixTerms, "terms in matrices");
  }
  if (accumulators.bound < 0) return OkStatus();
  const NodeId extent = loops.extents[loops.plan->order[accumulators.bound]];
  return check(nest.pool.IntegerConstant(extent).value_or(1), kSumBlock,
               "invocations");
}

}  // namespace ember::schedule

#include "jit/schedule/carried_sums.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tensor/simplify.h"
#include "tensor/sum_error.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::Statement;
using loops::Target;
using tensor::kMostPlainBlocks;
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
    FindTurns();
    if (turns_.empty()) return result;
    is_compensated_ = blocks_ > kMostPlainBlocks;
    total_ = AddBuffer(".total");
    if (is_compensated_) rest_ = AddBuffer(".rest");
    result.buffers.push_back(total_);
    if (is_compensated_) result.buffers.push_back(rest_);
    const Block begin = OverPoints(-1, Clear());
    const Block end = OverPoints(-1, Finish());
    Append(begin, *Under(IsLong(), result.begin));
    Append(end, *Under(IsLong(), result.end));
    for (const Turn& turn : turns_) {
      Block* out = &result.at[turn.position];
      // Known where the loop is short; asks for less than a division where it
      // is open.
      if (!nest_.pool.IntegerConstant(turn.turns)) out = Under(IsLong(), *out);
      const NodeId variable = s_.values[s_.plan->order[turn.position]];
      const NodeId part =
          Make(Opcode::kModulo, DType::kI64, variable, turn.turns);
      out = Under(Make(Opcode::kEqual, DType::kBool, part, Integer(0)), *out);
      out =
          Under(Make(Opcode::kLess, DType::kBool, Integer(0), variable), *out);
      Append(OverPoints(turn.position, Carry()), *out);
    }
    return result;
  }

 private:
  // A loop that carries what its last so many turns have summed up.
  struct Turn {
    int position = 0;
    NodeId turns = 0;
  };

  NodeId Integer(int64_t value) {
    return nest_.pool.Constant(static_cast<uint64_t>(value), DType::kI64);
  }
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

  // --- which loops ---

  // Lanes, and invocations, have accumulators of their own.
  bool AddsToOne(int position) const {
    const LoopMark mark = s_.plan->loops[s_.plan->order[position]].mark;
    return s_.IsReduction(position) && mark != LoopMark::kVector &&
           !IsBound(mark);
  }

  void FindTurns() {
    // Products of extents are those of points of a stage: they do not wrap.
    terms_ = Integer(1);
    int64_t blocks = 1;  // of what the loops found so far carry, at most
    bool is_open = false;
    for (int p = static_cast<int>(s_.plan->order.size());
         p-- > s_.FirstReduction();) {
      if (!AddsToOne(p)) continue;
      const NodeId extent = s_.extents[s_.plan->order[p]];
      const NodeId inner = terms_;
      terms_ = Make(Opcode::kMultiply, DType::kI64, inner, extent);
      const std::optional<int64_t> count = nest_.pool.IntegerConstant(extent);
      is_open |= !count;
      if (nest_.pool[terms_].range.high <= kSumBlock) continue;
      const bool moves =
          nest_.pool[s_.values[s_.plan->order[p]]].opcode == Opcode::kAxis;
      if (!moves) continue;
      Turn turn{p, TurnsOf(inner)};
      const std::optional<int64_t> turns =
          nest_.pool.IntegerConstant(turn.turns);
      turns_.push_back(turn);
      if (count && turns && !is_open) {
        // Those of the inner loops for each turn, and its own.
        const int64_t per_turn = turns_.size() == 1 ? 0 : blocks;
        const int64_t most = int64_t{1} << 20;
        blocks = std::min(*count, most) * std::min(per_turn, most) +
                 (*count + *turns - 1) / *turns;
        blocks = std::min(blocks, most);
      }
    }
    blocks_ = is_open ? kMostPlainBlocks + 1 : blocks;
  }

  // As many as have no more terms than a block, but one at least.
  NodeId TurnsOf(NodeId inner) {
    if (const std::optional<int64_t> terms = nest_.pool.IntegerConstant(inner))
      return Integer(
          std::max<int64_t>(kSumBlock / std::max<int64_t>(*terms, 1), 1));
    const NodeId least = Make(Opcode::kMaximum, DType::kI64, inner, Integer(1));
    return Make(
        Opcode::kMaximum, DType::kI64,
        Make(Opcode::kFloorDivide, DType::kI64, Integer(kSumBlock), least),
        Integer(1));
  }

  // Whether an accumulator gets more terms than a block in all.
  NodeId IsLong() {
    return Make(Opcode::kLess, DType::kBool, Integer(kSumBlock), terms_);
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
  void Store(uint32_t buffer, NodeId value, Statement& statement,
             tensor::Update update = tensor::Update::kAssign) {
    Target target;
    target.buffer = buffer;
    target.indices = a_.lane_indices;
    target.value = value;
    target.update = update;
    statement.targets.push_back(std::move(target));
  }

  Block Clear() {
    Statement statement;
    Store(total_, Zero(), statement);
    if (is_compensated_) Store(rest_, Zero(), statement);
    return {std::move(statement)};
  }

  // As tensor/sum_error.h says.
  Block Carry() {
    const uint32_t part = a_.buffers[0];
    Statement statement;
    if (!is_compensated_) {
      Store(total_, Load(part), statement, tensor::Update::kAdd);
      Store(part, Zero(), statement);
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
    Store(total_, total, statement);
    Store(rest_,
          Select(is_finite, Subtract(rest, Subtract(total, next)), Zero()),
          statement);
    Store(part, Zero(), statement);
    return {std::move(statement)};
  }

  Block Finish() {
    const uint32_t part = a_.buffers[0];
    NodeId last = Load(part);
    if (is_compensated_) last = Add(last, Load(rest_));
    Statement statement;
    Store(part, Add(Load(total_), last), statement);
    return {std::move(statement)};
  }

  // --- where they stand ---

  static void Append(const Block& block, Block& out) {
    out.insert(out.end(), block.begin(), block.end());
  }

  // Where the condition holds: the block itself, where that is known.
  Block* Under(NodeId condition, Block& out) {
    if (nest_.pool.IntegerConstant(condition) == 1) return &out;
    Statement branch;
    branch.kind = Statement::Kind::kIf;
    branch.condition = condition;
    out.push_back(std::move(branch));
    return &out.back().body;
  }

  // The block for all results in progress inside the loop at the position.
  Block OverPoints(int position, Block block) {
    std::vector<int> positions;
    if (a_.bound >= 0) positions.push_back(a_.bound);
    positions.insert(positions.end(), a_.spatial.begin(), a_.spatial.end());
    positions.insert(positions.end(), a_.lanes.begin(), a_.lanes.end());
    for (size_t i = positions.size(); i-- > 0;) {
      if (positions[i] <= position) continue;
      const int number = s_.plan->order[positions[i]];
      const NodeId variable = s_.values[number];
      if (nest_.pool[variable].opcode != Opcode::kAxis) continue;
      Statement loop;
      loop.kind = Statement::Kind::kFor;
      loop.variable = variable;
      // What never runs has no lanes.
      if (nest_.pool.IntegerConstant(s_.extents[number]) != 0)
        loop.loop = LoopKindOf(s_.plan->loops[number].mark);
      loop.body = std::move(block);
      block.clear();
      block.push_back(std::move(loop));
    }
    return block;
  }

  const ComputationStage& stage_;
  const StageLoops& s_;
  const Accumulators& a_;
  loops::LoopNest& nest_;
  const DType type_;
  std::vector<Turn> turns_;  // from the innermost loop out
  NodeId terms_ = 0;         // of one accumulator, in all
  int64_t blocks_ = 0;       // at most, if that is constant
  bool is_compensated_ = false;
  uint32_t total_ = 0;
  uint32_t rest_ = 0;
};

}  // namespace

CarriedSums CarrySums(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators, loops::LoopNest& nest) {
  return Carrier(computation, loops, accumulators, nest).Run();
}

Status CheckMatrixSum(const Computation& computation, const StageLoops& loops,
                      const Accumulators& accumulators,
                      const loops::LoopNest& nest) {
  const ComputationStage& stage = computation.stages[loops.stage];
  if (!IsFloat(nest.buffers[accumulators.buffers[0]].type)) return OkStatus();
  int64_t terms = 1;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (static_cast<int>(i) < stage.spatial_count) continue;
    const std::optional<int64_t> extent =
        nest.pool.IntegerConstant(loops.regions[i].extent);
    if (__builtin_mul_overflow(terms, extent.value_or(1), &terms))
      terms = INT64_MAX;
  }
  if (terms <= tensor::kMostMatrixTerms) return OkStatus();
  return FailedPreconditionError(
      "%" + stage.name + ": expected sums of at most " +
      std::to_string(tensor::kMostMatrixTerms) + " terms in matrices, found " +
      std::to_string(terms));
}

}  // namespace ember::schedule

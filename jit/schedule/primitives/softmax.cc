// online_softmax: a softmax and the product of its rows, in blocks of the rows.
#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/hidden_keys.h"
#include "jit/schedule/primitives/online_softmax.h"
#include "jit/schedule/primitives/padded_keys.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"

namespace ember::schedule {
namespace {

using tensor::Combiner;
using tensor::Node;
using tensor::Opcode;

class Matcher {
 public:
  Matcher(const Schedule& schedule, int product, KeyCount keys)
      : schedule_(schedule), c_(schedule.computation()), keys_(keys) {
    result_.product = product;
  }

  StatusOr<SoftmaxOfProduct> Run() {
    EMBER_RETURN_IF_ERROR(MatchProduct());
    EMBER_RETURN_IF_ERROR(MatchWeight());
    EMBER_RETURN_IF_ERROR(MatchTotal());
    EMBER_RETURN_IF_ERROR(MatchPower());
    for (int stage : {result_.most, result_.power, result_.total,
                      result_.weight, result_.product}) {
      EMBER_RETURN_IF_ERROR(CheckUnchanged(schedule_, stage, "online_softmax"));
      if (Stage(stage).useful)
        return Refusal("hidden keys are skipped already");
    }
    return result_;
  }

 private:
  static Status Refusal(const std::string& reason) {
    return FailedPreconditionError("the stage is no product of a softmax: " +
                                   reason);
  }
  const ComputationStage& Stage(int number) const { return c_.stages[number]; }
  const Node& ValueOf(int number) const {
    return c_.pool[Stage(number).values[0]];
  }

  // Returns the stage that computes the loaded buffer. Returns -1 unless that
  // is a temporary with `rank` dims of type `type` that only the stages
  // `readers` read.
  int MakerOf(NodeId load, std::initializer_list<int> readers, size_t rank,
              DType type = DType::kF32) const {
    const Node& node = c_.pool[load];
    if (node.opcode != Opcode::kLoad) return -1;
    const ComputationBuffer& buffer = c_.buffers[node.buffer];
    if (buffer.role != BufferRole::kTemporary || buffer.type != type ||
        buffer.extents.size() != rank) {
      return -1;
    }
    int maker = -1;
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      for (const ComputationStore& store : c_.stages[i].stores) {
        if (store.buffer != node.buffer) continue;
        if (maker >= 0) return -1;
        maker = i;
      }
    }
    if (maker < 0 || !StoresAreIdentity(c_, maker) ||
        Stage(maker).values.size() != 1 || Stage(maker).stores.size() != 1) {
      return -1;
    }
    const std::vector<int> consumers = ConsumersOf(c_, maker);
    const bool only_these = std::ranges::all_of(consumers, [&](int consumer) {
      return std::ranges::find(readers, consumer) != readers.end();
    });
    return only_these ? maker : -1;
  }

  // True if the indices of the load are `axes`, in order.
  bool ReadsAt(NodeId load, const std::vector<NodeId>& axes) const {
    const Node& node = c_.pool[load];
    if (node.operands.size() != axes.size()) return false;
    for (size_t d = 0; d < axes.size(); ++d) {
      if (!IsSame(node.operands[d], axes[d],
                  c_.buffers[node.buffer].extents[d]))
        return false;
    }
    return true;
  }
  // True if the index is the axis, or 0 if the dim has one element, and the
  // axis has the extent of the dim.
  bool IsSame(NodeId index, NodeId axis, NodeId extent) const {
    if (c_.pool[axis].operands[0] != extent) return false;
    if (index == axis) return true;
    return c_.pool.IntegerConstant(extent) == 1 &&
           c_.pool.IntegerConstant(index) == 0;
  }
  static std::vector<NodeId> Variables(const ComputationStage& stage,
                                       size_t count) {
    std::vector<NodeId> variables;
    for (size_t a = 0; a < count; ++a)
      variables.push_back(stage.axes[a].variable);
    return variables;
  }

  Status MatchProduct() {
    const ComputationStage& stage = Stage(result_.product);
    const size_t spatial = static_cast<size_t>(stage.spatial_count);
    if (stage.combiner != Combiner::kSum || stage.values.size() != 1 ||
        stage.axes.size() != spatial + 1 || spatial < 2 || stage.end) {
      return Refusal("expected sums over one axis");
    }
    const Node& product = ValueOf(result_.product);
    if (product.opcode != Opcode::kMultiply || product.type != DType::kF32)
      return Refusal("expected sums of products of f32");
    const NodeId k = stage.axes.back().variable;
    const std::optional<int64_t> length =
        c_.pool.IntegerConstant(stage.axes.back().extent);
    if (!length && keys_ == KeyCount::kConstant)
      return Refusal("the extent of the sum is open");
    result_.length = length.value_or(0);
    rank_ = spatial;
    for (size_t i = 0; i < 2; ++i) {
      const NodeId load = Unwidened(product.operands[i]);
      const DType type = c_.pool[load].type;
      const int weight = MakerOf(load, {result_.product}, spatial, type);
      if (weight < 0 || Stage(weight).has_reduction()) continue;
      std::vector<NodeId> at = Variables(stage, spatial - 1);
      at.push_back(k);
      if (!ReadsAt(load, at)) continue;
      // A product whose other factor also reads the weights is refused.
      bool reads_too = false;
      ForEachLoad(c_.pool, std::span(&product.operands[1 - i], 1),
                  [&](NodeId other) {
                    reads_too |= c_.pool[other].buffer == c_.pool[load].buffer;
                  });
      if (reads_too) continue;
      result_.weight = weight;
      result_.weights = i;
      result_.weight_type = type;
      return OkStatus();
    }
    return Refusal(
        "expected a factor that is another stage's result, read by nothing "
        "else, row by row");
  }

  // Returns the narrow float that `value` is a widening cast of; `value` itself
  // if it is no such cast.
  NodeId Unwidened(NodeId value) const {
    const Node& node = c_.pool[value];
    if (node.opcode != Opcode::kCast) return value;
    const DType from = c_.pool[node.operands[0]].type;
    return IsNarrowFloat(from) ? node.operands[0] : value;
  }

  Status MatchWeight() {
    const bool is_narrow = result_.weight_type != DType::kF32;
    if (is_narrow && ValueOf(result_.weight).opcode != Opcode::kCast)
      return Refusal("expected quotients of powers and their total");
    const Node& quotient = is_narrow
                               ? c_.pool[ValueOf(result_.weight).operands[0]]
                               : ValueOf(result_.weight);
    if (quotient.opcode != Opcode::kDivide || quotient.type != DType::kF32)
      return Refusal("expected quotients of powers and their total");
    const std::vector<NodeId> axes = Variables(Stage(result_.weight), rank_);
    result_.total = MakerOf(quotient.operands[1], {result_.weight}, rank_ - 1);
    if (result_.total < 0 ||
        !ReadsAt(quotient.operands[1], {axes.begin(), axes.end() - 1}))
      return Refusal("expected quotients by a total of each row");
    result_.power =
        MakerOf(quotient.operands[0], {result_.weight, result_.total}, rank_);
    if (result_.power < 0 || !ReadsAt(quotient.operands[0], axes))
      return Refusal("expected quotients of powers that nothing else reads");
    return OkStatus();
  }

  Status MatchTotal() {
    const ComputationStage& total = Stage(result_.total);
    if (total.combiner != Combiner::kSum || total.axes.size() != rank_ ||
        total.end || c_.pool[total.values[0]].opcode != Opcode::kLoad ||
        MakerOf(total.values[0], {result_.weight, result_.total}, rank_) !=
            result_.power ||
        !ReadsAt(total.values[0], Variables(total, rank_))) {
      return Refusal("expected the total of a row's powers");
    }
    return OkStatus();
  }

  Status MatchPower() {
    const ComputationStage& power = Stage(result_.power);
    const Node& exp = ValueOf(result_.power);
    if (power.has_reduction() || exp.opcode != Opcode::kExp ||
        c_.pool[exp.operands[0]].opcode != Opcode::kSubtract) {
      return Refusal("expected powers of a difference");
    }
    const Node& difference = c_.pool[exp.operands[0]];
    std::vector<NodeId> axes = Variables(power, rank_);
    result_.most = MakerOf(difference.operands[1], {result_.power}, rank_ - 1);
    if (result_.most < 0 ||
        !ReadsAt(difference.operands[1], {axes.begin(), axes.end() - 1}))
      return Refusal("expected differences from a maximum of each row");
    const ComputationStage& most = Stage(result_.most);
    if (most.combiner != Combiner::kMaximum || most.axes.size() != rank_ ||
        most.end)
      return Refusal("expected differences from a maximum of each row");
    // The maximum that is subtracted must be taken over the same values from
    // which it is subtracted.
    Schedule scratch = schedule_;
    Computation& c = scratch.mutable_computation();
    const auto map_to = [&](const ComputationStage& from) {
      return [&, from_axes = Variables(from, rank_)](
                 NodeId id) -> std::optional<NodeId> {
        for (size_t a = 0; a < rank_; ++a) {
          if (from_axes[a] != id) continue;
          if (c.pool.IntegerConstant(power.axes[a].extent) == 1)
            return c.pool.Integer(0);
          return axes[a];
        }
        return std::nullopt;
      };
    };
    for (size_t a = 0; a < rank_; ++a) {
      if (most.axes[a].extent != power.axes[a].extent)
        return Refusal("expected maxima of all of a row");
    }
    const NodeId value = most.values[0], taken = difference.operands[0];
    if (Rewriter(c.pool, c.pool, map_to(most)).Rewrite(value) !=
        Rewriter(c.pool, c.pool, map_to(power)).Rewrite(taken)) {
      return Refusal("expected the maximum of what it is subtracted from");
    }
    return OkStatus();
  }

  const Schedule& schedule_;
  const Computation& c_;
  const KeyCount keys_;
  SoftmaxOfProduct result_;
  size_t rank_ = 0;  // number of dims of the weights and of the results
};

class Maker {
 public:
  // keys: number of keys in a row before padding; at.length is the number with
  // padding.
  Maker(Schedule& schedule, const SoftmaxOfProduct& at, int64_t block,
        int64_t keys)
      : schedule_(schedule),
        c_(schedule.mutable_computation()),
        at_(at),
        keys_(keys),
        block_(c_.pool.Integer(block)),
        blocks_(c_.pool.Integer(at.length / block)) {}

  // Derives which keys are visible (the primitive's option `skip`). Returns an
  // error, without a change, if none are hidden or if an index of some stage is
  // checked at run time.
  Status SkipHiddenBlocks() {
    const ComputationStage& power = Stage(at_.power);
    const NodeId difference = c_.pool[power.values[0]].operands[0];
    const NodeId x = c_.pool[difference].operands[0];
    end_ = VisibleKeysOf(c_, x, Variables(power, power.axes.size())).end;
    if (!end_ || c_.pool[*end_].range.low >= keys_) {
      return FailedPreconditionError(
          "no comparison of keys and rows hides keys by -inf");
    }
    // A stage with a run-time check of an index is refused, because a skipped
    // block would skip its checks.
    for (int i = 0; i <= at_.product; ++i) {
      if (AccessesAreSafe(c_, i)) continue;
      return FailedPreconditionError("indices of %" + Stage(i).name +
                                     " are checked while the program runs");
    }
    return OkStatus();
  }

  void Run(const std::string& sum, const std::string& total) {
    row_ = Variables(Stage(at_.power), Stage(at_.power).axes.size() - 1);
    MakeMost();
    MakePower();
    MakeTotal();
    if (at_.weight_type != DType::kF32) MakeWeight();
    const int products = MakeProducts(sum + ".blocks");
    MakeFold(sum, total, products);
  }

 private:
  NodeId Make(Opcode opcode, DType type, std::initializer_list<NodeId> from) {
    return tensor::Simplifier(c_.pool).Make(
        opcode, type, std::span(from.begin(), from.size()));
  }
  NodeId Float(Opcode opcode, std::initializer_list<NodeId> from) {
    return Make(opcode, DType::kF32, from);
  }
  NodeId FloatConstant(float value) {
    return c_.pool.Constant(std::bit_cast<uint32_t>(value), DType::kF32);
  }
  NodeId Load(uint32_t buffer, const std::vector<NodeId>& indices) {
    return c_.pool.Intern(Opcode::kLoad, DType::kF32, indices, 0, 1, buffer);
  }
  // Returns m, or 0 if m is -inf.
  NodeId Finite(NodeId m) {
    const NodeId lowest =
        FloatConstant(-std::numeric_limits<float>::infinity());
    return Float(
        Opcode::kSelect,
        {Make(Opcode::kEqual, DType::kBool, {m, lowest}), FloatConstant(0), m});
  }

  ComputationStage& Stage(int number) { return c_.stages[number]; }
  uint32_t BufferOf(int number) { return Stage(number).stores[0].buffer; }

  // Returns the expression with the axes of the stage `from` replaced: the last
  // axis by `last`, the others by `to`.
  NodeId Moved(NodeId value, const ComputationStage& from,
               const std::vector<NodeId>& to, NodeId last) {
    Rewriter rewriter(c_.pool, c_.pool,
                      [&](NodeId id) -> std::optional<NodeId> {
                        for (size_t a = 0; a < from.axes.size(); ++a) {
                          if (from.axes[a].variable != id) continue;
                          return a + 1 == from.axes.size() ? last : to[a];
                        }
                        return std::nullopt;
                      });
    return rewriter.Rewrite(value);
  }
  // Returns the index, in the whole row, of element k of block b.
  NodeId Position(const ComputationAxis& b, const ComputationAxis& k) {
    return Make(Opcode::kAdd, DType::kI64,
                {Make(Opcode::kMultiply, DType::kI64, {b.variable, block_}),
                 k.variable});
  }
  static std::vector<NodeId> Variables(const ComputationStage& stage,
                                       size_t count) {
    std::vector<NodeId> variables;
    for (size_t a = 0; a < count; ++a)
      variables.push_back(stage.axes[a].variable);
    return variables;
  }
  // Makes the stage store at the indices of its spatial axes, in a buffer with
  // their extents, and resets its loops.
  void Finish(int number) {
    ComputationStage& stage = Stage(number);
    stage.stores[0].indices =
        Variables(stage, static_cast<size_t>(stage.spatial_count));
    std::vector<NodeId>& extents = c_.buffers[BufferOf(number)].extents;
    extents.clear();
    for (int a = 0; a < stage.spatial_count; ++a)
      extents.push_back(stage.axes[a].extent);
    schedule_.mutable_plan(number) = DefaultPlan(stage);
  }
  // Replaces the last axis of the stage, over the keys, by an axis over blocks
  // and an axis over the keys of a block. is_point: true if the latter is
  // spatial, not a reduction.
  void SplitLast(ComputationStage& stage, bool is_point) {
    const ComputationAxis last = stage.axes.back();
    stage.axes.pop_back();
    stage.axes.push_back(c_.MakeAxis(last.name + "_part", blocks_));
    stage.axes.push_back(c_.MakeAxis(last.name, block_));
    stage.spatial_count =
        static_cast<int>(stage.axes.size()) - (is_point ? 0 : 1);
  }

  void MakeMost() {
    const ComputationStage whole = Stage(at_.most);
    ComputationStage& stage = Stage(at_.most);
    SplitLast(stage, false);
    const size_t rank = stage.axes.size();
    stage.values = {
        Moved(whole.values[0], whole, Variables(stage, rank),
              Position(stage.axes[rank - 2], stage.axes[rank - 1]))};
    Finish(at_.most);
  }

  void MakePower() {
    const ComputationStage whole = Stage(at_.power);
    const Node difference = c_.pool[c_.pool[whole.values[0]].operands[0]];
    ComputationStage& stage = Stage(at_.power);
    SplitLast(stage, true);
    const size_t rank = stage.axes.size();
    const std::vector<NodeId> axes = Variables(stage, rank);
    const NodeId x =
        Moved(difference.operands[0], whole, axes,
              Position(stage.axes[rank - 2], stage.axes[rank - 1]));
    const NodeId most =
        Load(BufferOf(at_.most), {axes.begin(), axes.end() - 1});
    stage.values = {
        Float(Opcode::kExp, {Float(Opcode::kSubtract, {x, Finite(most)})})};
    Finish(at_.power);
  }

  void MakeTotal() {
    ComputationStage& stage = Stage(at_.total);
    SplitLast(stage, false);
    stage.values = {
        Load(BufferOf(at_.power), Variables(stage, stage.axes.size()))};
    Finish(at_.total);
  }

  // Makes the stage of weights, if weights are narrow, store powers rounded to
  // the narrow type, block by block.
  void MakeWeight() {
    ComputationStage& stage = Stage(at_.weight);
    SplitLast(stage, true);
    const NodeId power =
        Load(BufferOf(at_.power), Variables(stage, stage.axes.size()));
    stage.values = {Make(Opcode::kCast, at_.weight_type, {power})};
    Finish(at_.weight);
  }

  // Makes a stage of each block's products, and returns its number. It comes
  // right before the original product, because a stage in between may compute
  // the other factor. If weights are f32, it replaces the stage of weights. If
  // they are narrow, that stage stays, and the new stage is called `name`.
  int MakeProducts(const std::string& name) {
    const bool is_narrow = at_.weight_type != DType::kF32;
    ComputationStage stage = Stage(at_.weight);
    int number = at_.product;
    uint32_t weights = BufferOf(at_.power);
    if (is_narrow) {
      weights = BufferOf(at_.weight);
      stage.name = name;
      stage.stores[0].buffer = static_cast<uint32_t>(c_.buffers.size());
      c_.buffers.push_back(
          {.name = name, .type = DType::kF32, .role = BufferRole::kTemporary});
    } else {
      schedule_.RemoveStage(at_.weight);
      --number;
    }
    const ComputationStage whole = Stage(number);
    const size_t spatial = static_cast<size_t>(whole.spatial_count);
    stage.axes.clear();
    for (size_t a = 0; a + 1 < spatial; ++a)
      stage.axes.push_back(
          c_.MakeAxis(whole.axes[a].name, whole.axes[a].extent));
    const std::string k = whole.axes.back().name;
    stage.axes.push_back(c_.MakeAxis(k + "_part", blocks_));
    stage.axes.push_back(c_.MakeAxis(whole.axes[spatial - 1].name,
                                     whole.axes[spatial - 1].extent));
    stage.spatial_count = static_cast<int>(stage.axes.size());
    stage.axes.push_back(c_.MakeAxis(k, block_));
    stage.combiner = Combiner::kSum;
    const std::vector<NodeId> axes = Variables(stage, stage.axes.size());
    std::vector<NodeId> results(axes.begin(), axes.begin() + spatial - 1);
    results.push_back(axes[spatial]);
    const Node product = c_.pool[whole.values[0]];
    const NodeId other =
        Moved(product.operands[1 - at_.weights], whole, results,
              Position(stage.axes[spatial - 1], stage.axes[spatial + 1]));
    std::vector<NodeId> at(axes.begin(), axes.begin() + spatial);
    at.push_back(axes.back());
    NodeId weight =
        c_.pool.Intern(Opcode::kLoad, at_.weight_type, at, 0, 1, weights);
    if (is_narrow) weight = Float(Opcode::kCast, {weight});
    stage.values = {at_.weights == 0
                        ? Float(Opcode::kMultiply, {weight, other})
                        : Float(Opcode::kMultiply, {other, weight})};
    schedule_.InsertStage(number, std::move(stage));
    Finish(number);
    return number;
  }

  void MakeFold(const std::string& sum_name, const std::string& total_name,
                int products) {
    const int number = products + 1;
    const ComputationStage whole = Stage(number);
    const size_t spatial = static_cast<size_t>(whole.spatial_count);
    ComputationStage fold;
    fold.name = sum_name;
    std::vector<NodeId> extents;
    for (size_t a = 0; a < spatial; ++a) {
      fold.axes.push_back(
          c_.MakeAxis(whole.axes[a].name, whole.axes[a].extent));
      extents.push_back(whole.axes[a].extent);
    }
    fold.spatial_count = static_cast<int>(spatial);
    fold.axes.push_back(c_.MakeAxis(whole.axes.back().name + "_part", blocks_));
    fold.combiner = Combiner::kFold;
    fold.combines_parts = true;
    const std::vector<NodeId> axes = Variables(fold, fold.axes.size());
    std::vector<NodeId> at_row(axes.begin(), axes.begin() + spatial - 1);
    if (end_) {
      Rewriter rewriter(c_.pool, c_.pool,
                        [&](NodeId id) -> std::optional<NodeId> {
                          const auto axis = std::ranges::find(row_, id);
                          if (axis == row_.end()) return std::nullopt;
                          return at_row[axis - row_.begin()];
                        });
      fold.useful = {.end = rewriter.Rewrite(*end_),
                     .begin = std::nullopt,
                     .step = at_.length / *c_.pool.IntegerConstant(blocks_)};
    }
    at_row.push_back(axes.back());
    std::vector<NodeId> at_point = at_row;
    at_point.push_back(axes[spatial - 1]);
    fold.values = {Load(BufferOf(products), at_point),
                   Load(BufferOf(at_.total), at_row),
                   Load(BufferOf(at_.most), at_row)};
    fold.initial = {FloatConstant(0), FloatConstant(0),
                    FloatConstant(-std::numeric_limits<float>::infinity())};
    NodeId before[3], element[3];
    for (uint64_t i = 0; i < 3; ++i) {
      before[i] = c_.pool.Intern(Opcode::kAccumulator, DType::kF32, {}, i, 1);
      element[i] = c_.pool.Intern(Opcode::kElement, DType::kF32, {}, i, 1);
    }
    const NodeId most = Float(Opcode::kMaximum, {before[2], element[2]});
    const NodeId base = Finite(most);
    const auto scale = [&](NodeId m) {
      return Float(Opcode::kExp, {Float(Opcode::kSubtract, {m, base})});
    };
    const NodeId old_scale = scale(before[2]), new_scale = scale(element[2]);
    for (size_t i = 0; i < 2; ++i) {
      fold.results.push_back(Float(
          Opcode::kAdd, {Float(Opcode::kMultiply, {before[i], old_scale}),
                         Float(Opcode::kMultiply, {element[i], new_scale})}));
    }
    fold.results.push_back(most);
    std::vector<NodeId> loads;
    ComputationStage& y = Stage(number);
    y.axes.resize(spatial);
    y.combiner = Combiner::kNone;
    for (const std::string& name : {sum_name, total_name}) {
      ComputationStore store;
      store.buffer = static_cast<uint32_t>(c_.buffers.size());
      store.indices = {axes.begin(), axes.begin() + spatial};
      c_.buffers.push_back({.name = name,
                            .type = DType::kF32,
                            .role = BufferRole::kTemporary,
                            .extents = extents});
      loads.push_back(Load(store.buffer, Variables(y, spatial)));
      fold.stores.push_back(std::move(store));
    }
    y.values = {Float(Opcode::kDivide, {loads[0], loads[1]})};
    schedule_.mutable_plan(number) = DefaultPlan(y);
    schedule_.InsertStage(number, std::move(fold));
  }

  Schedule& schedule_;
  Computation& c_;
  SoftmaxOfProduct at_;
  int64_t keys_;
  NodeId block_;
  NodeId blocks_;
  // Set for `skip`: the first hidden key of a row, as an expression over the
  // axes of %power.
  std::optional<NodeId> end_;
  std::vector<NodeId> row_;
};

Status NotNew(const std::string& name) {
  return InvalidArgumentError("expected a new name, found '" + name + "'");
}

}  // namespace

StatusOr<SoftmaxOfProduct> MatchSoftmaxOfProduct(const Schedule& schedule,
                                                 int product, KeyCount keys) {
  return Matcher(schedule, product, keys).Run();
}

Status Change(const OnlineSoftmax& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int product, Find(schedule, step.product));
  const int64_t block = step.block;
  const Computation& c = schedule.computation();
  const auto is_new = [&](const std::string& name) {
    return tensor::IsPlainName(name) && c.FindBuffer(name) < 0;
  };
  if (!is_new(step.sum)) return NotNew(step.sum);
  if (!is_new(step.total) || step.total == step.sum) return NotNew(step.total);
  EMBER_ASSIGN_OR_RETURN(SoftmaxOfProduct softmax,
                         MatchSoftmaxOfProduct(schedule, product));
  const int64_t keys = softmax.length;
  if (block < 1 || block > keys) {
    return FailedPreconditionError("expected blocks of 1 to " +
                                   std::to_string(keys) + " elements, found " +
                                   std::to_string(block));
  }
  Schedule changed = schedule;
  if (keys % block != 0)
    EMBER_RETURN_IF_ERROR(PadKeys(changed, softmax, RoundUp(keys, block)));
  Maker maker(changed, softmax, block, keys);
  if (step.hidden == HiddenBlocks::kSkip)
    EMBER_RETURN_IF_ERROR(maker.SkipHiddenBlocks());
  maker.Run(step.sum, step.total);
  schedule = std::move(changed);
  return OkStatus();
}

}  // namespace ember::schedule

#include "jit/schedule/primitives/padded_keys.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/simplify.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

class KeyPadder {
 public:
  KeyPadder(Schedule& schedule, const SoftmaxOfProduct& softmax)
      : schedule_(schedule),
        c_(schedule.mutable_computation()),
        softmax_(softmax) {}

  // Finds the stages whose axis of keys must become longer: those of the
  // softmax, and earlier stages that they read at each key.
  Status Find() {
    for (const int stage : {softmax_.most, softmax_.power, softmax_.total,
                            softmax_.weight, softmax_.product}) {
      keys_[stage] = Stage(stage).axes.size() - 1;
    }
    pending_ = {softmax_.most, softmax_.power};
    while (!pending_.empty()) {
      const int stage = pending_.back();
      pending_.pop_back();
      FindMakers(stage);
    }
    for (const auto& [stage, axis] : keys_) EMBER_RETURN_IF_ERROR(Check(stage));
    return OkStatus();
  }

  void Run(int64_t length) {
    for (const auto& [stage, axis] : keys_) Lengthen(stage, axis, length);
  }

 private:
  ComputationStage& Stage(int number) { return c_.stages[number]; }
  NodeId KeyOf(int stage) {
    return Stage(stage).axes[keys_.at(stage)].variable;
  }

  // Returns the indices of a load: its operands without a Pad's default value.
  std::span<const NodeId> IndicesOf(const Node& load) const {
    return std::span(load.operands)
        .first(c_.buffers[load.buffer].extents.size());
  }

  // Returns the dim of the load that the key indexes directly, if no other
  // index depends on the key; otherwise nullopt.
  std::optional<size_t> DimOfKey(const Node& load, NodeId key) const {
    std::optional<size_t> dim;
    if (load.opcode != Opcode::kLoad) return std::nullopt;
    for (size_t d = 0; d < IndicesOf(load).size(); ++d) {
      const NodeId index = load.operands[d];
      if (index == key && !dim)
        dim = d;
      else if (tensor::DependsOn(c_.pool, index, key))
        return std::nullopt;
    }
    return dim;
  }

  bool ReadsAtKey(const Node& load, NodeId key) const {
    return std::ranges::any_of(IndicesOf(load), [&](NodeId index) {
      return tensor::DependsOn(c_.pool, index, key);
    });
  }

  // Returns the only stage that stores to the buffer, at the indices of its own
  // axes, if it stores to no other buffer and is no fold; -1 if there is no
  // such stage or the buffer is no temporary.
  int MakerOf(uint32_t buffer) const {
    if (c_.buffers[buffer].role != BufferRole::kTemporary) return -1;
    int maker = -1;
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      for (const ComputationStore& store : c_.stages[i].stores) {
        if (store.buffer != buffer) continue;
        if (maker >= 0) return -1;
        maker = i;
      }
    }
    const bool is_simple = maker >= 0 && StoresAreIdentity(c_, maker) &&
                           c_.stages[maker].stores.size() == 1 &&
                           c_.stages[maker].combiner != tensor::Combiner::kFold;
    return is_simple ? maker : -1;
  }

  void FindMakers(int reader) {
    const NodeId key = KeyOf(reader);
    ForEachLoad(c_.pool, Stage(reader).values, [&](NodeId id) {
      const Node& load = c_.pool[id];
      const std::optional<size_t> dim = DimOfKey(load, key);
      const int maker = dim ? MakerOf(load.buffer) : -1;
      if (maker < 0 || keys_.contains(maker)) return;
      const ComputationStage& stage = c_.stages[maker];
      if (c_.pool.IntegerConstant(stage.axes[*dim].extent) != softmax_.length)
        return;
      keys_[maker] = *dim;
      pending_.push_back(maker);
    });
  }

  // Checks that the stage's rows may become longer: all readers read each
  // element at the key for which it was computed, and no index needs a run-time
  // check.
  Status Check(int number) {
    EMBER_RETURN_IF_ERROR(CheckUnchanged(schedule_, number, "online_softmax"));
    if (!AccessesAreSafe(c_, number)) {
      return FailedPreconditionError("indices of %" + Stage(number).name +
                                     " are checked while the program runs");
    }
    const size_t axis = keys_.at(number);
    if (axis >= static_cast<size_t>(Stage(number).spatial_count))
      return OkStatus();
    for (const int reader : ConsumersOf(c_, number)) {
      bool is_at_key = keys_.contains(reader);
      ForEachLoad(c_.pool, RootsOf(Stage(reader)), [&](NodeId id) {
        const Node& load = c_.pool[id];
        if (load.buffer != Stage(number).stores[0].buffer) return;
        is_at_key &= is_at_key && DimOfKey(load, KeyOf(reader)) == axis;
      });
      if (is_at_key) continue;
      return FailedPreconditionError(
          "expected blocks that divide rows of " +
          std::to_string(softmax_.length) + " elements, as %" +
          Stage(reader).name + " reads %" + Stage(number).name + " elsewhere");
    }
    return OkStatus();
  }

  bool IsLonger(uint32_t buffer) const {
    return std::ranges::any_of(keys_, [&](const auto& entry) {
      const ComputationStage& stage = c_.stages[entry.first];
      return stage.stores[0].buffer == buffer &&
             entry.second < static_cast<size_t>(stage.spatial_count);
    });
  }

  NodeId Make(Opcode opcode, DType type, std::initializer_list<NodeId> from) {
    return tensor::Simplifier(c_.pool).Make(
        opcode, type, std::span(from.begin(), from.size()));
  }

  // Returns x for keys of the original row, and -inf for the added keys.
  NodeId Hidden(NodeId key, NodeId x) {
    const NodeId lowest = c_.pool.Constant(
        std::bit_cast<uint32_t>(-std::numeric_limits<float>::infinity()),
        DType::kF32);
    const NodeId is_there = Make(Opcode::kLess, DType::kBool,
                                 {key, c_.pool.Integer(softmax_.length)});
    return Make(Opcode::kSelect, DType::kF32, {is_there, x, lowest});
  }

  void Lengthen(int number, size_t axis, int64_t length) {
    ComputationStage& stage = Stage(number);
    const NodeId before = stage.axes[axis].variable;
    const ComputationAxis longer =
        c_.MakeAxis(stage.axes[axis].name, c_.pool.Integer(length));
    Rewriter rewriter(
        c_.pool, c_.pool,
        [&](NodeId id) -> std::optional<NodeId> {
          return id == before ? std::optional(longer.variable) : std::nullopt;
        },
        [&](NodeId id, std::span<const NodeId> operands) {
          return PadOf(id, before, operands);
        });
    stage.values = rewriter.Rewrite(stage.values);
    stage.axes[axis] = longer;
    if (number == softmax_.most)
      stage.values[0] = Hidden(longer.variable, stage.values[0]);
    if (number == softmax_.power) {
      const NodeId difference = c_.pool[stage.values[0]].operands[0];
      const NodeId x = c_.pool[difference].operands[0],
                   most = c_.pool[difference].operands[1];
      const NodeId hidden = Hidden(longer.variable, x);
      stage.values[0] =
          Make(Opcode::kExp, DType::kF32,
               {Make(Opcode::kSubtract, DType::kF32, {hidden, most})});
    }
    if (axis < static_cast<size_t>(stage.spatial_count)) {
      stage.stores[0].indices[axis] = longer.variable;
      c_.buffers[stage.stores[0].buffer].extents[axis] = longer.extent;
    }
    schedule_.mutable_plan(number) = DefaultPlan(stage);
  }

  // Returns a padded load, with default value 0, in place of a load at the key,
  // if the loaded buffer does not become longer; otherwise nullopt.
  std::optional<NodeId> PadOf(NodeId id, NodeId key,
                              std::span<const NodeId> operands) {
    const Node node = c_.pool[id];
    if (node.opcode != Opcode::kLoad || !ReadsAtKey(node, key) ||
        IsLonger(node.buffer)) {
      return std::nullopt;
    }
    std::vector<NodeId> with_zero(operands.begin(), operands.end());
    with_zero.push_back(
        c_.pool.Constant(tensor::ZeroBits(node.type), node.type));
    return c_.pool.Intern(Opcode::kPad, node.type, with_zero, 0, node.scope,
                          node.buffer);
  }

  Schedule& schedule_;
  Computation& c_;
  const SoftmaxOfProduct softmax_;
  std::map<int, size_t> keys_;  // for each stage whose rows become longer: the
                                // number of its axis of keys
  std::vector<int> pending_;
};

}  // namespace

Status PadKeys(Schedule& schedule, SoftmaxOfProduct& softmax, int64_t length) {
  KeyPadder padder(schedule, softmax);
  EMBER_RETURN_IF_ERROR(padder.Find());
  padder.Run(length);
  softmax.length = length;
  return OkStatus();
}

}  // namespace ember::schedule

// inline: computes a stage's value where it is read.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/simplify.h"
#include "tensor/combine.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::Combiner;
using tensor::Node;
using tensor::Opcode;

// Largest number of elements that an inlined expression may combine for one
// point.
constexpr int64_t kMaxElements = 16;

// Returns the number of elements that the stage combines for one point; 1 if it
// is no reduction, nullopt if the number is 0, not constant or more than
// kMaxElements.
std::optional<int64_t> ElementsOf(const Computation& c,
                                  const ComputationStage& stage) {
  int64_t elements = 1;
  for (size_t a = static_cast<size_t>(stage.spatial_count);
       a < stage.axes.size(); ++a) {
    const auto extent = c.pool.IntegerConstant(stage.axes[a].extent);
    if (!extent || *extent < 1 || *extent > kMaxElements / elements)
      return std::nullopt;
    elements *= *extent;
  }
  return elements;
}

class Inliner {
 public:
  Inliner(Computation& c, const ComputationStage& stage)
      : c_(c), stage_(stage) {}

  bool IsLoad(NodeId id) const {
    return c_.pool[id].opcode == Opcode::kLoad && Reads(id);
  }
  bool IsPaddedLoad(NodeId id) const {
    return c_.pool[id].opcode == Opcode::kPad && Reads(id);
  }

  // Returns the value of a padded load of the stage's result. `operands`: the
  // indices, then the default value. Where the indices are outside, the inlined
  // loads may be outside, too, so they become padded loads; their values are
  // not used.
  NodeId PaddedValueAt(const std::vector<NodeId>& operands) {
    const std::vector<NodeId>& extents =
        c_.buffers[stage_.stores[0].buffer].extents;
    is_padded_ = true;
    NodeId value = Moved({operands.begin(), operands.end() - 1});
    is_padded_ = false;
    for (size_t d = 0; d < extents.size(); ++d) {
      const NodeId inside =
          Make(Opcode::kAnd, DType::kBool,
               {Make(Opcode::kLessEqual, DType::kBool,
                     {c_.pool.Integer(0), operands[d]}),
                Make(Opcode::kLess, DType::kBool, {operands[d], extents[d]})});
      value = Make(Opcode::kSelect, c_.pool[value].type,
                   {inside, value, operands.back()});
    }
    return value;
  }

  // Returns the value that the stage computes at the indices, as an expression.
  NodeId ValueAt(const std::vector<NodeId>& indices) {
    std::vector<NodeId> point = indices;
    point.resize(stage_.axes.size());
    if (!stage_.has_reduction()) return Moved(point);
    // The unrolled sum begins with the neutral element 0, as loops do. That
    // makes a difference only for a sum of -0.
    std::optional<NodeId> value;
    const DType type = c_.pool[stage_.values[0]].type;
    if (stage_.combiner == Combiner::kSum)
      value = c_.pool.Constant(NeutralBits(stage_.combiner, type), type);
    Combine(static_cast<size_t>(stage_.spatial_count), point, value);
    return *value;
  }

 private:
  bool Reads(NodeId load) const {
    return c_.pool[load].buffer == stage_.stores[0].buffer;
  }

  NodeId Make(Opcode opcode, DType type,
              std::initializer_list<NodeId> operands) {
    return tensor::Simplifier(c_.pool).Make(
        opcode, type, std::span(operands.begin(), operands.size()));
  }

  // Returns the expression of the stage's value, with the stage's axes replaced
  // by the indices of the point.
  NodeId Moved(const std::vector<NodeId>& point) {
    return Rewriter(
               c_.pool, c_.pool,
               [&](NodeId id) -> std::optional<NodeId> {
                 for (size_t a = 0; a < point.size(); ++a) {
                   if (stage_.axes[a].variable == id) return point[a];
                 }
                 return std::nullopt;
               },
               [&](NodeId id,
                   std::span<const NodeId> operands) -> std::optional<NodeId> {
                 const Node node = c_.pool[id];
                 if (!is_padded_ || node.opcode != Opcode::kLoad)
                   return std::nullopt;
                 std::vector<NodeId> padded(operands.begin(), operands.end());
                 padded.push_back(
                     c_.pool.Constant(tensor::ZeroBits(node.type), node.type));
                 return c_.pool.Intern(Opcode::kPad, node.type, padded,
                                       node.immediate, node.scope, node.buffer);
               })
        .Rewrite(stage_.values[0]);
  }

  // Extends `value` by all elements of the reduction along the axis and the
  // axes after it, in order.
  void Combine(size_t axis, std::vector<NodeId>& point,
               std::optional<NodeId>& value) {
    if (axis == stage_.axes.size()) {
      const NodeId element = Moved(point);
      const NodeId operands[] = {value.value_or(element), element};
      value = value ? tensor::Simplifier(c_.pool).Make(
                          tensor::OpcodeOf(stage_.combiner),
                          c_.pool[element].type, operands)
                    : element;
      return;
    }
    const int64_t extent = *c_.pool.IntegerConstant(stage_.axes[axis].extent);
    for (int64_t i = 0; i < extent; ++i) {
      point[axis] = c_.pool.Integer(i);
      Combine(axis + 1, point, value);
    }
  }

  Computation& c_;
  const ComputationStage& stage_;
  // true while a padded load is replaced: inlined loads may then be out of
  // bounds
  bool is_padded_ = false;
};

Status CheckInlined(const Schedule& schedule, int number) {
  const Computation& c = schedule.computation();
  const ComputationStage& stage = c.stages[number];
  EMBER_RETURN_IF_ERROR(CheckUnchanged(schedule, number, "inline"));
  const BufferRole role = c.buffers[stage.stores[0].buffer].role;
  if (stage.stores.size() != 1 || stage.combiner == Combiner::kFold ||
      stage.end || !StoresAreIdentity(c, number) ||
      (role != BufferRole::kTemporary && role != BufferRole::kPacked)) {
    return FailedPreconditionError(
        "expected a temporary of one value for each point");
  }
  const DType type = c.pool[stage.values[0]].type;
  if (stage.has_reduction() && AccumulatorType(stage.combiner, type) != type) {
    return FailedPreconditionError(
        "sums of narrow floats are rounded once, at the end");
  }
  if (!ElementsOf(c, stage)) {
    return FailedPreconditionError("expected at most " +
                                   std::to_string(kMaxElements) +
                                   " elements for each point");
  }
  if (!AccessesAreSafe(c, number)) {
    return FailedPreconditionError(
        "an index of the stage is checked when the program runs");
  }
  const std::vector<int> readers = ConsumersOf(c, number);
  if (readers.empty())
    return FailedPreconditionError("nothing reads the stage");
  const int end = static_cast<int>(c.stages.size());
  for (int i = number + 1; i < end; ++i) {
    for (const ComputationStore& store : c.stages[i].stores) {
      const bool is_read = Reads(c, number, store.buffer);
      if (store.buffer != stage.stores[0].buffer &&
          (!is_read || i > readers.back())) {
        continue;
      }
      return FailedPreconditionError("%" + c.stages[i].name +
                                     (is_read ? " changes what the stage reads"
                                              : " stores to the same buffer"));
    }
  }
  if (ReadsOverwritten(c, number)) {
    return FailedPreconditionError(
        "the stage reads an input that a result may overwrite");
  }
  return OkStatus();
}

}  // namespace

Status Change(const Inline& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, step.stage));
  EMBER_RETURN_IF_ERROR(CheckInlined(schedule, number));
  Computation& c = schedule.mutable_computation();
  const ComputationStage stage = c.stages[number];
  Inliner inliner(c, stage);
  for (const int reader : ConsumersOf(c, number)) {
    const bool was_safe = AccessesAreSafe(c, reader);
    Rewriter rewriter(c.pool, c.pool, [&](NodeId id) -> std::optional<NodeId> {
      const bool is_padded = inliner.IsPaddedLoad(id) && !stage.has_reduction();
      if (!is_padded && !inliner.IsLoad(id)) return std::nullopt;
      const std::vector<NodeId> operands = c.pool[id].operands;
      const std::vector<NodeId> moved = rewriter.Rewrite(operands);
      return is_padded ? inliner.PaddedValueAt(moved) : inliner.ValueAt(moved);
    });
    ComputationStage& changed = c.stages[reader];
    changed.values = rewriter.Rewrite(changed.values);
    for (ComputationStore& store : changed.stores)
      store.indices = rewriter.Rewrite(store.indices);
    if (Reads(c, reader, stage.stores[0].buffer)) {
      return FailedPreconditionError("%" + changed.name +
                                     " reads the stage in another way than "
                                     "for its value");
    }
    // The reader's accesses must provably be in bounds, both before and after
    // inlining. Otherwise the inlined expression might read elements that do
    // not exist, or would need a new check.
    if (!was_safe || !AccessesAreSafe(c, reader)) {
      return FailedPreconditionError("an index of %" + changed.name +
                                     " is not known to be inside");
    }
  }
  // No stage reads or stores the buffer any more, so its extents become 0.
  for (NodeId& extent : c.buffers[stage.stores[0].buffer].extents)
    extent = c.pool.Integer(0);
  schedule.RemoveStage(number);
  return OkStatus();
}

}  // namespace ember::schedule

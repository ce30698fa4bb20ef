// rfactor: divides a reduction into two stages.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;
using tensor::Simplifier;

// The part of a reduction axis' index that becomes the axis of parts: the whole
// index, a quotient or a remainder.
struct Part {
  using Kind = LoopDigit::Kind;
  Kind kind = Kind::kWhole;
  int axis = 0;
  int64_t factor = 1;
  // only for kRemainder: the remainder is taken of the index divided by `run`
  int64_t run = 1;
};

NodeId Make(Computation& c, Opcode opcode, DType type,
            std::initializer_list<NodeId> operands) {
  return Simplifier(c.pool).Make(opcode, type,
                                 std::span(operands.begin(), operands.size()));
}

StatusOr<Part> PartOf(const ComputationStage& stage, const LoopDigit& digit) {
  const auto found = std::find_if(
      stage.axes.begin() + stage.spatial_count, stage.axes.end(),
      [&](const auto& axis) { return axis.name == digit.loop.name; });
  if (found == stage.axes.end()) {
    return InvalidArgumentError(
        "expected k, k/n, k%n or k/n%m with a reduction k of %" + stage.name +
        ", found '" + ToText(digit) + "'");
  }
  EMBER_RETURN_IF_ERROR(CheckFactor(digit.factor));
  EMBER_RETURN_IF_ERROR(CheckFactor(digit.run));
  using enum LoopDigit::Kind;
  const bool is_form = (digit.kind == kRemainder || digit.run == 1) &&
                       (digit.kind != kWhole || digit.factor == 1);
  if (!is_form || digit.factor > tensor::kMaxExtent / digit.run) {
    return InvalidArgumentError("expected k, k/n, k%n or k/n%m, found '" +
                                ToText(digit) + "'");
  }
  return Part{.kind = digit.kind,
              .axis = static_cast<int>(found - stage.axes.begin()),
              .factor = digit.factor,
              .run = digit.run};
}

// Makes the stage of partial results for rfactor, from the stage that is then
// to combine them.
class PartsMaker {
 public:
  PartsMaker(Computation& c, const ComputationStage& whole, const Part& part)
      : c_(c), whole_(whole), part_(part) {}

  // Returns the stage of partial results. buffer: number of the first of its
  // buffers, one for each value. Returns nullopt if the stage is a fold that
  // cannot be divided in this way: a fold has no neutral element for what is
  // beyond the end of the axis.
  std::optional<ComputationStage> Run(uint32_t buffer) {
    ComputationStage stage;
    stage.combiner = whole_.combiner;
    stage.initial = whole_.initial;
    stage.results = whole_.results;
    stage.combines_parts = whole_.combines_parts;
    const ComputationAxis& axis = whole_.axes[part_.axis];
    const ComputationAxis parts =
        c_.MakeAxis(NameOfPart(axis.name), PartExtent());
    const NodeId digit = parts.variable;
    for (int a = 0; a <= whole_.spatial_count; ++a) {
      if (a == Place()) stage.axes.push_back(parts);
      if (a < whole_.spatial_count) AddCopy(a, stage);
    }
    stage.spatial_count = static_cast<int>(stage.axes.size());
    for (int a = whole_.spatial_count; a < static_cast<int>(whole_.axes.size());
         ++a) {
      if (a == part_.axis)
        AddRest(digit, stage);
      else
        AddCopy(a, stage);
    }
    // If no reduction axis is left, each part is a single element.
    if (static_cast<int>(stage.axes.size()) == stage.spatial_count) {
      if (IsFold()) return std::nullopt;
      stage.combiner = tensor::Combiner::kNone;
    }
    // UsefulElements describes elements at equal distances. In a part that
    // consists of runs the distances differ, so a fold with useful elements is
    // not divided into such parts.
    const bool is_uneven = part_.run > 1 && whole_.useful;
    if (IsFold() && (beyond_ || is_uneven)) return std::nullopt;
    Rewriter rewriter(c_.pool, c_.pool,
                      [&](NodeId id) { return Replaced(id); });
    for (const NodeId whole : whole_.values) {
      NodeId value = rewriter.Rewrite(whole);
      if (beyond_) {
        const DType type = c_.pool[value].type;
        const NodeId neutral =
            c_.pool.Constant(NeutralBits(whole_.combiner, type), type);
        value = Make(c_, Opcode::kSelect, type, {*beyond_, neutral, value});
      }
      stage.values.push_back(value);
      ComputationStore store;
      store.buffer = buffer++;
      for (int a = 0; a < stage.spatial_count; ++a)
        store.indices.push_back(stage.axes[a].variable);
      stage.stores.push_back(std::move(store));
    }
    // In a fold the parts may leave out elements that are not useful, as the
    // whole stage did. In other reductions they combine all elements.
    if (whole_.useful && IsFold())
      stage.useful = UsefulOfPart(digit, rewriter.Rewrite(whole_.useful->end));
    return stage;
  }

  // Returns the position of the axis of parts among the axes of the new stage.
  // It is the first axis, so that in memory the same part of neighbouring
  // results is contiguous. In a fold it comes before the last spatial axis, so
  // that the first axes are still the rows, which the fold has in common with
  // the stages that it reads.
  int Place() const {
    return IsFold() ? std::max(whole_.spatial_count - 1, 0) : 0;
  }

  NodeId PartExtent() {
    switch (part_.kind) {
      case Part::Kind::kWhole:
        return Extent();
      case Part::Kind::kQuotient:
        return Steps();
      case Part::Kind::kRemainder:
        break;
    }
    return c_.pool.Integer(part_.factor);
  }

 private:
  // Returns a name for the axis of parts that the stage does not have yet. The
  // stage may have an axis of parts from online_softmax or from another rfactor
  // already.
  std::string NameOfPart(const std::string& axis) const {
    std::string name = axis + "_part";
    while (std::ranges::find(whole_.axes, name, &ComputationAxis::name) !=
           whole_.axes.end()) {
      name += "_part";
    }
    return name;
  }

  bool IsFold() const { return whole_.combiner == tensor::Combiner::kFold; }
  NodeId Extent() const { return whole_.axes[part_.axis].extent; }
  // Returns, for kRemainder, the distance between the starts of two runs of a
  // part, in elements; for kQuotient, the number of elements of a part.
  int64_t Round() const { return part_.factor * part_.run; }
  NodeId Steps() {
    const NodeId rounded = Make(c_, Opcode::kAdd, DType::kI64,
                                {Extent(), c_.pool.Integer(Round() - 1)});
    const NodeId rounds = Make(c_, Opcode::kFloorDivide, DType::kI64,
                               {rounded, c_.pool.Integer(Round())});
    return Make(c_, Opcode::kMultiply, DType::kI64,
                {rounds, c_.pool.Integer(part_.run)});
  }
  // Returns the index, along the original axis, of element `rest` of part
  // `digit`.
  NodeId Position(NodeId digit, NodeId rest) {
    const auto integer = [&](Opcode opcode, NodeId a, int64_t b) {
      return Make(c_, opcode, DType::kI64, {a, c_.pool.Integer(b)});
    };
    const auto add = [&](NodeId a, NodeId b) {
      return Make(c_, Opcode::kAdd, DType::kI64, {a, b});
    };
    if (part_.kind == Part::Kind::kQuotient)
      return add(integer(Opcode::kMultiply, digit, part_.factor), rest);
    if (part_.run == 1)
      return add(integer(Opcode::kMultiply, rest, part_.factor), digit);
    const NodeId round = integer(Opcode::kFloorDivide, rest, part_.run);
    return add(add(integer(Opcode::kMultiply, round, Round()),
                   integer(Opcode::kMultiply, digit, part_.run)),
               integer(Opcode::kModulo, rest, part_.run));
  }

  // Returns the useful elements of a part. Element r of part p is element n * p
  // + r (kQuotient) or n * r + p (kRemainder) of the original axis, where n is
  // the factor. It is useful if that number, multiplied by the original step,
  // is below `end`.
  UsefulElements UsefulOfPart(NodeId part, NodeId end) {
    const bool is_remainder = part_.kind == Part::Kind::kRemainder;
    const int64_t step = whole_.useful->step, larger = step * part_.factor;
    const NodeId before =
        Make(c_, Opcode::kMultiply, DType::kI64,
             {part, c_.pool.Integer(is_remainder ? step : larger)});
    return {.end = Make(c_, Opcode::kSubtract, DType::kI64, {end, before}),
            .begin = std::nullopt,
            .step = is_remainder ? larger : step};
  }

  void AddCopy(int axis, ComputationStage& stage) {
    stage.axes.push_back(
        c_.MakeAxis(whole_.axes[axis].name, whole_.axes[axis].extent));
    replaced_.push_back(
        {whole_.axes[axis].variable, stage.axes.back().variable});
  }

  // Adds the reduction axis over the elements of a part: what is left of the
  // original axis without the index of parts.
  void AddRest(NodeId digit, ComputationStage& stage) {
    const ComputationAxis& axis = whole_.axes[part_.axis];
    if (part_.kind == Part::Kind::kWhole)
      return replaced_.push_back({axis.variable, digit});
    const bool is_remainder = part_.kind == Part::Kind::kRemainder;
    stage.axes.push_back(c_.MakeAxis(
        axis.name, is_remainder ? Steps() : c_.pool.Integer(part_.factor)));
    NodeId value = Position(digit, stage.axes.back().variable);
    const std::optional<int64_t> extent = c_.pool.IntegerConstant(Extent());
    if (!extent || *extent % Round() != 0) {
      // An index beyond the end of the axis is replaced by that of the last
      // element, whose value is then not used. The last element exists wherever
      // there are points.
      beyond_ = Make(c_, Opcode::kLessEqual, DType::kBool, {Extent(), value});
      const NodeId last = Make(c_, Opcode::kSubtract, DType::kI64,
                               {Extent(), c_.pool.Integer(1)});
      value = Make(c_, Opcode::kMinimum, DType::kI64, {value, last});
    }
    replaced_.push_back({axis.variable, value});
  }

  std::optional<NodeId> Replaced(NodeId id) const {
    for (const auto& [axis, value] : replaced_) {
      if (axis == id) return value;
    }
    return std::nullopt;
  }

  Computation& c_;
  const ComputationStage& whole_;
  const Part part_;
  // pairs of an axis of the original stage and the expression that replaces it
  std::vector<std::pair<NodeId, NodeId>> replaced_;
  std::optional<NodeId> beyond_;
};

}  // namespace

Status CheckCombinesParts(const Schedule& schedule, int number,
                          std::string_view primitive) {
  const Computation& c = schedule.computation();
  const ComputationStage& stage = c.stages[number];
  if (!stage.has_reduction())
    return FailedPreconditionError("the stage combines nothing");
  const bool is_fold = stage.combiner == tensor::Combiner::kFold;
  if (is_fold && !stage.combines_parts) {
    return FailedPreconditionError(
        "a fold combines its elements one after another");
  }
  if (stage.end)
    return FailedPreconditionError(
        "points combine different numbers of elements");
  if (!is_fold && stage.values.size() != 1)
    return FailedPreconditionError("the stage combines several values");
  const DType type = c.pool[stage.values[0]].type;
  if (AccumulatorType(stage.combiner, type) != type) {
    return FailedPreconditionError(
        "sums of narrow floats are rounded once, at the end");
  }
  return CheckUnchanged(schedule, number, primitive);
}

Status Change(const Rfactor& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number,
                         Find(schedule, step.part.loop.stage));
  Computation& c = schedule.mutable_computation();
  const ComputationStage whole = c.stages[number];
  EMBER_ASSIGN_OR_RETURN(const Part part, PartOf(whole, step.part));
  // Each value of a fold's state has a buffer of partial values of its own.
  std::vector<std::string> names = {step.parts};
  for (size_t i = 1; i < whole.values.size(); ++i)
    names.push_back(step.parts + "." + std::to_string(i));
  for (const std::string& name : names) {
    if (tensor::IsPlainName(name) && c.FindBuffer(name) < 0) continue;
    return InvalidArgumentError("expected a new name for the parts, found '" +
                                name + "'");
  }
  EMBER_RETURN_IF_ERROR(CheckCombinesParts(schedule, number, "rfactor"));
  const uint32_t buffer = static_cast<uint32_t>(c.buffers.size());
  PartsMaker maker(c, whole, part);
  std::optional<ComputationStage> parts = maker.Run(buffer);
  if (!parts) {
    return FailedPreconditionError(
        "expected parts of a fold that have as many elements each, more than "
        "one");
  }
  parts->name = step.parts;
  const bool is_packed =
      c.buffers[whole.stores[0].buffer].role == BufferRole::kPacked;
  for (size_t i = 0; i < names.size(); ++i) {
    ComputationBuffer made{
        .name = names[i],
        .type = c.pool[whole.values[i]].type,
        .role = is_packed ? BufferRole::kPacked : BufferRole::kTemporary,
        .extents = {}};
    for (int a = 0; a < parts->spatial_count; ++a)
      made.extents.push_back(parts->axes[a].extent);
    c.buffers.push_back(std::move(made));
  }
  // The stage itself now combines the partial results, all of them: a part
  // without useful elements has the same result as if it had combined them.
  ComputationStage& stage = c.stages[number];
  stage.useful.reset();
  const std::string name = whole.axes[part.axis].name;
  stage.axes.resize(static_cast<size_t>(stage.spatial_count));
  stage.axes.push_back(c.MakeAxis(name, maker.PartExtent()));
  std::vector<NodeId> indices;
  for (int a = 0; a < stage.spatial_count; ++a)
    indices.push_back(stage.axes[a].variable);
  indices.insert(indices.begin() + maker.Place(), stage.axes.back().variable);
  for (uint32_t i = 0; i < stage.values.size(); ++i) {
    stage.values[i] =
        c.pool.Intern(Opcode::kLoad, c.pool[whole.values[i]].type, indices, 0,
                      /*scope=*/1, buffer + i);
  }
  schedule.mutable_plan(number) = DefaultPlan(stage);
  schedule.InsertStage(number, *std::move(parts));
  return OkStatus();
}

}  // namespace ember::schedule

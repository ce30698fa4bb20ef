// Defines reduce, arg_reduce and reduce_window, which combine elements of one
// operand.
#include <algorithm>

#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

bool Contains(std::span<const int64_t> values, size_t value) {
  return std::find(values.begin(), values.end(), static_cast<int64_t>(value)) !=
         values.end();
}

Shape Without(const Shape& shape, std::span<const int64_t> axes) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!Contains(axes, i)) result.push_back(shape[i]);
  }
  return result;
}

InferredTypes InferReduce(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const auto& axes = IntegersOf(operation, "axes");
  EMBER_RETURN_IF_ERROR(CheckCombiner(operation, operand.dtype()));
  EMBER_RETURN_IF_ERROR(CheckAxes(axes, "axes", operand.rank()));
  return OneType(operand.dtype(), Without(operand.shape(), axes));
}

// The indices of a stage that visits all elements of operand 0. Its axes for
// the reduced dims are reductions, those for the other dims spatial.
struct ReductionAxes {
  // The index along each dim of the operand: the element that is combined.
  std::vector<Scalar> element;
  // The index along each dim of the result, which lacks the reduced dims.
  std::vector<Scalar> result;
};

ReductionAxes MakeAxes(StageContext& stage, std::span<const int64_t> reduced) {
  const Shape& shape = stage.operation().operand(0)->shape();
  ReductionAxes axes;
  axes.element.resize(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (Contains(reduced, i)) continue;
    axes.element[i] = stage.SpatialAxis(shape[i]);
    axes.result.push_back(axes.element[i]);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (Contains(reduced, i)) axes.element[i] = stage.ReductionAxis(shape[i]);
  }
  return axes;
}

void DefineReduce(StagesContext& context) {
  const Operation& operation = context.operation();
  const auto& reduced = IntegersOf(operation, "axes");
  StageContext& stage = context.AddStage();
  const ReductionAxes axes = MakeAxes(stage, reduced);
  const tensor::Combiner combiner =
      reduced.empty() ? tensor::Combiner::kNone
                      : FindCombiner(StringOf(operation, "combiner"))->combiner;
  stage.Yield(stage.Load(0, axes.element), 0, axes.result, combiner);
}

InferredTypes InferArgReduce(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  EMBER_RETURN_IF_ERROR(CheckAxis(operation, "axis", operand.rank()));
  const std::string& mode = StringOf(operation, "mode");
  if (mode != "maximum" && mode != "minimum") {
    return Mismatch("mode: expected maximum or minimum, found '", mode, "'");
  }
  const int64_t axis = IntegerOf(operation, "axis");
  return OneType(DType::kI64, Without(operand.shape(), std::span(&axis, 1)));
}

// Returns true if a search for the largest (or smallest) element replaces the
// element `best`, found so far, by the element `next`. A NaN wins over all
// numbers, as it does in minimum and maximum. Of equal elements, and of NaNs,
// the search keeps the first one, or the last one if `last` is true.
Scalar Wins(const Scalar& next, const Scalar& best, bool maximum, bool last) {
  const Scalar less = maximum ? best : next;
  const Scalar more = maximum ? next : best;
  if (!IsFloat(next.type())) return last ? less <= more : less < more;
  if (last) {
    const Scalar is_nan = next != next;
    return Or(less <= more, is_nan);
  }
  const Scalar is_number = best == best;
  return And(is_number, Not(more <= less));
}

// Defines arg_reduce as a fold that carries the best element's index and value.
// Only the index is stored as a result.
void DefineArgReduce(StagesContext& context) {
  const Operation& operation = context.operation();
  const DType dtype = operation.operand(0)->dtype();
  const bool maximum = StringOf(operation, "mode") == "maximum";
  const bool last = IntegerOr(operation, "last", 0) != 0;
  const int64_t axis = IntegerOf(operation, "axis");
  StageContext& stage = context.AddStage();
  const ReductionAxes axes = MakeAxes(stage, std::span(&axis, 1));
  const StageContext::FoldValue values[] = {
      {axes.element[static_cast<size_t>(axis)], stage.Index(0), 0},
      {stage.Load(0, axes.element),
       maximum ? SmallestOf(stage, dtype) : LargestOf(stage, dtype), -1},
  };
  stage.YieldFold(
      values, axes.result,
      [=](std::span<const Scalar> best, std::span<const Scalar> next) {
        const Scalar better = Wins(next[1], best[1], maximum, last);
        return std::vector<Scalar>{Select(better, next[0], best[0]),
                                   Select(better, next[1], best[1])};
      });
}

InferredTypes InferReduceWindow(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const auto& window = IntegersOf(operation, "window");
  const auto& strides = IntegersOf(operation, "strides");
  const auto& dilations = IntegersOf(operation, "dilations");
  const Shape& low = ShapeOf(operation, "low");
  const Shape& high = ShapeOf(operation, "high");
  const auto rank = static_cast<size_t>(operand.rank());
  EMBER_RETURN_IF_ERROR(CheckCombiner(operation, operand.dtype()));
  for (const auto& [values, name] :
       {std::pair(&window, "window"), std::pair(&strides, "strides"),
        std::pair(&dilations, "dilations")}) {
    EMBER_RETURN_IF_ERROR(CheckLength(values->size(), name, rank));
    EMBER_RETURN_IF_ERROR(CheckPositive(*values, name));
  }
  EMBER_RETURN_IF_ERROR(CheckLength(low.size(), "low", rank));
  EMBER_RETURN_IF_ERROR(CheckLength(high.size(), "high", rank));
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(WindowedExtent(operand.shape()[i], window[i], strides[i],
                                   dilations[i], low[i], high[i]));
    if (SurelyBelow(shape.back(), 0)) {
      return Mismatch("window: expected at most the padded extent in dim ",
                      std::to_string(i), " of ", ToString(operand.type()),
                      ", found ", std::to_string(window[i]));
    }
  }
  return OneType(operand.dtype(), std::move(shape));
}

void DefineReduceWindow(StagesContext& context) {
  const Operation& operation = context.operation();
  const auto& window = IntegersOf(operation, "window");
  const auto& strides = IntegersOf(operation, "strides");
  const auto& dilations = IntegersOf(operation, "dilations");
  const Shape& low = ShapeOf(operation, "low");
  const Shape& high = ShapeOf(operation, "high");
  const Shape& shape = operation.result()->shape();
  StageContext& stage = context.AddStage();
  std::vector<Scalar> result, element;
  for (const Dim& dim : shape) result.push_back(stage.SpatialAxis(dim));
  bool pads = false, reduces = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    Scalar index = result[i] * strides[i];
    if (window[i] > 1) {
      index = index + stage.ReductionAxis(Dim(window[i])) * dilations[i];
      reduces = true;
    }
    if (!IsZero(low[i])) index = index - stage.Extent(low[i]);
    pads = pads || !IsZero(low[i]) || !IsZero(high[i]);
    element.push_back(index);
  }
  const NamedCombiner& combiner =
      *FindCombiner(StringOf(operation, "combiner"));
  const Scalar value =
      pads ? stage.Pad(0, element,
                       combiner.identity(stage, operation.operand(0)->dtype()))
           : stage.Load(0, element);
  stage.Yield(value, 0, result,
              reduces ? combiner.combiner : tensor::Combiner::kNone);
}

constexpr AttributeSpec kReduceAttributes[] = {
    {"combiner", AttributeKind::kString, true,
     "sum, product, minimum or maximum."},
    {"axes", AttributeKind::kIntegers, true,
     "Dims to combine; they are removed."},
};
constexpr AttributeSpec kArgReduceAttributes[] = {
    {"mode", AttributeKind::kString, true, "maximum or minimum."},
    {"axis", AttributeKind::kInteger, true,
     "The dim to search; it is removed."},
    {"last", AttributeKind::kInteger, false,
     "1: the last of equal elements or NaNs; default 0, the first."},
};
constexpr AttributeSpec kReduceWindowAttributes[] = {
    {"combiner", AttributeKind::kString, true,
     "sum, product, minimum or maximum."},
    {"window", AttributeKind::kIntegers, true,
     "Elements of the window, per dim."},
    {"strides", AttributeKind::kIntegers, true, "Between windows, per dim."},
    {"dilations", AttributeKind::kIntegers, true,
     "Between elements of a window, per dim."},
    {"low", AttributeKind::kShape, true, "Padding before, per dim."},
    {"high", AttributeKind::kShape, true, "Padding after, per dim."},
};

const OperatorRecord kRecords[] = {
    {.name = "reduce",
     .doc = "Combines elements along axes. Integers wrap; minimum and maximum "
            "of bools are all and "
            "any; none gives the combiner's identity.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kReduceAttributes,
     .trait = OperatorTrait::kReduction,
     .result_memory = ResultMemory::kGiven,
     .infer = InferReduce,
     .definition = {.stages = DefineReduce}},
    {.name = "arg_reduce",
     .doc =
         "Index of the largest or smallest element along an axis, i64. A NaN "
         "wins over all numbers.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kArgReduceAttributes,
     .trait = OperatorTrait::kReduction,
     .result_memory = ResultMemory::kGiven,
     .infer = InferArgReduce,
     .definition = {.stages = DefineArgReduce}},
    {.name = "reduce_window",
     .doc = "Combines the elements of a window that moves over the operand; "
            "positions outside are "
            "the combiner's identity.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kReduceWindowAttributes,
     .trait = OperatorTrait::kReduction,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kWindows,
     .infer = InferReduceWindow,
     .definition = {.stages = DefineReduceWindow}},
};

}  // namespace

std::span<const OperatorRecord> ReductionOperators() { return kRecords; }

}  // namespace ember::graph

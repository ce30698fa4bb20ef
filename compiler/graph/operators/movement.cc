// Defines operators that move elements and compute nothing: reshape, transpose,
// broadcast, slice, pad, concat. Their definitions are index expressions, which
// become part of the expressions that read the result.
#include <algorithm>

#include "compiler/graph/operators/reshape_parts.h"
#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

// Largest number of operands of a concat; each needs a stage and a buffer of
// the dispatch.
constexpr int kMaxConcatOperands = 2048;

InferredTypes InferReshape(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const Shape& shape = ShapeOf(operation, "shape");
  const Dim from = ElementCount(operand.shape()), to = ElementCount(shape);
  if (from != to) {
    return Mismatch("shape: expected ", from.ToString(), " elements as ",
                    ToString(operand.type()), ", found ", to.ToString(), " in ",
                    ShapeToString(shape));
  }
  return OneType(operand.dtype(), shape);
}

// Returns the row-major position of the element at `indices` in a tensor with
// these dims. Dims of extent 1 are skipped, because their index is 0.
Scalar Linearize(ElementContext& context, const Shape& dims, Indices indices) {
  Scalar position = context.Index(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!IsOne(dims[i]))
      position = position * context.Extent(dims[i]) + indices[i];
  }
  return position;
}

// Does the inverse of Linearize for one part of a reshape: computes the indices
// along the part's dims from the row-major position of an element within them.
void Delinearize(ElementContext& context, const Shape& dims,
                 const ReshapePart& part, Scalar position,
                 std::vector<Scalar>& indices) {
  // For the outermost dim whose extent is not 1, the quotient is the index
  // itself, so no mod is needed.
  int first = part.from_begin;
  while (first + 1 < part.from_end && IsOne(dims[static_cast<size_t>(first)]))
    ++first;
  for (int i = part.from_end - 1; i >= part.from_begin; --i) {
    const Dim& dim = dims[static_cast<size_t>(i)];
    if (IsOne(dim)) continue;
    const Scalar extent = context.Extent(dim);
    indices[static_cast<size_t>(i)] =
        i == first ? position : Modulo(position, extent);
    if (i != first) position = FloorDivide(position, extent);
  }
}

Scalar DefineReshape(ElementContext& context, Indices indices) {
  const Shape& from = context.operation().operand(0)->shape();
  const Shape& to = ShapeOf(context.operation(), "shape");
  std::vector<Scalar> own(from.size(), context.Index(0));
  for (const ReshapePart& part : SplitReshape(from, to)) {
    const Shape dims(to.begin() + part.to_begin, to.begin() + part.to_end);
    const Scalar position = Linearize(
        context, dims,
        indices.subspan(static_cast<size_t>(part.to_begin), dims.size()));
    Delinearize(context, from, part, position, own);
  }
  return context.Load(0, own);
}

InferredTypes InferTranspose(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const auto& permutation = IntegersOf(operation, "permutation");
  EMBER_RETURN_IF_ERROR(CheckLength(permutation.size(), "permutation",
                                    static_cast<size_t>(operand.rank())));
  EMBER_RETURN_IF_ERROR(CheckAxes(permutation, "permutation", operand.rank()));
  Shape shape;
  for (int64_t source : permutation)
    shape.push_back(operand.shape()[static_cast<size_t>(source)]);
  return OneType(operand.dtype(), std::move(shape));
}

Scalar DefineTranspose(ElementContext& context, Indices indices) {
  const auto& permutation = IntegersOf(context.operation(), "permutation");
  std::vector<Scalar> own(permutation.size());
  for (size_t i = 0; i < own.size(); ++i)
    own[static_cast<size_t>(permutation[i])] = indices[i];
  return context.Load(0, own);
}

InferredTypes InferBroadcast(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const Shape& shape = ShapeOf(operation, "shape");
  EMBER_ASSIGN_OR_RETURN(const Shape both,
                         BroadcastShapes(operand.shape(), shape));
  if (both != shape) {
    return Mismatch("shape: expected one that ", ToString(operand.type()),
                    " broadcasts to, found ", ShapeToString(shape));
  }
  return OneType(operand.dtype(), shape);
}

Scalar DefineBroadcast(ElementContext& context, Indices indices) {
  const Shape& from = context.operation().operand(0)->shape();
  const size_t offset = indices.size() - from.size();
  std::vector<Scalar> own;
  for (size_t i = 0; i < from.size(); ++i) {
    own.push_back(IsOne(from[i]) ? context.Index(0) : indices[offset + i]);
  }
  return context.Load(0, own);
}

// Returns an error if the elements start, start + step, … are surely outside of
// a dim.
Status CheckSliceDim(const Dim& dim, const Dim& start, int64_t step,
                     const Dim& size) {
  if (step == 0) return Mismatch("steps: expected steps other than 0, found 0");
  if (SurelyBelow(size, 0)) {
    return Mismatch("sizes: expected sizes of at least 0, found ",
                    size.ToString());
  }
  const Dim last = start + Dim(step) * (size - 1);
  const bool outside =
      !last.is_valid() || SurelyBelow(start, 0) || SurelyBelow(last, 0) ||
      SurelyBelow(dim - 1 - start, 0) || SurelyBelow(dim - 1 - last, 0);
  // A slice of symbolic size is accepted even if its elements seem to be
  // outside: the size may turn out to be 0, for which any start is valid.
  if (outside && size.is_constant()) {
    return Mismatch("starts, steps, sizes: expected elements within 0 and ",
                    dim.ToString(), ", found ", start.ToString(), " to ",
                    last.ToString());
  }
  return OkStatus();
}

InferredTypes InferSlice(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const Shape& starts = ShapeOf(operation, "starts");
  const Shape& sizes = ShapeOf(operation, "sizes");
  const auto& steps = IntegersOf(operation, "steps");
  const auto rank = static_cast<size_t>(operand.rank());
  EMBER_RETURN_IF_ERROR(CheckLength(starts.size(), "starts", rank));
  EMBER_RETURN_IF_ERROR(CheckLength(steps.size(), "steps", rank));
  EMBER_RETURN_IF_ERROR(CheckLength(sizes.size(), "sizes", rank));
  if (std::any_of(sizes.begin(), sizes.end(), IsZero))
    return OneType(operand.dtype(), sizes);
  for (size_t i = 0; i < rank; ++i) {
    EMBER_RETURN_IF_ERROR(
        CheckSliceDim(operand.shape()[i], starts[i], steps[i], sizes[i])
            .WithContext("dim " + std::to_string(i)));
  }
  return OneType(operand.dtype(), sizes);
}

Scalar DefineSlice(ElementContext& context, Indices indices) {
  const Shape& starts = ShapeOf(context.operation(), "starts");
  const auto& steps = IntegersOf(context.operation(), "steps");
  std::vector<Scalar> own;
  for (size_t i = 0; i < indices.size(); ++i) {
    own.push_back(context.Extent(starts[i]) + indices[i] * steps[i]);
  }
  return context.Load(0, own);
}

enum class PadMode { kConstant, kEdge, kReflect, kWrap };

std::optional<PadMode> PadModeNamed(std::string_view name) {
  if (name == "constant") return PadMode::kConstant;
  if (name == "edge") return PadMode::kEdge;
  if (name == "reflect") return PadMode::kReflect;
  if (name == "wrap") return PadMode::kWrap;
  return std::nullopt;
}

InferredTypes InferPad(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const Shape& low = ShapeOf(operation, "low");
  const Shape& high = ShapeOf(operation, "high");
  const auto rank = static_cast<size_t>(operand.rank());
  EMBER_RETURN_IF_ERROR(CheckLength(low.size(), "low", rank));
  EMBER_RETURN_IF_ERROR(CheckLength(high.size(), "high", rank));
  const auto mode = PadModeNamed(StringOf(operation, "mode"));
  if (!mode) {
    return Mismatch("mode: expected constant, edge, reflect or wrap, found '",
                    StringOf(operation, "mode"), "'");
  }
  const int operands = *mode == PadMode::kConstant ? 2 : 1;
  if (operation.operand_count() != operands) {
    return Mismatch("expected ", std::to_string(operands), " operands in mode ",
                    StringOf(operation, "mode"), ", found ",
                    std::to_string(operation.operand_count()));
  }
  if (operands == 2) {
    EMBER_RETURN_IF_ERROR(CheckRank(operation, 1, 0));
    EMBER_RETURN_IF_ERROR(CheckSameDType(operation, 0, 1));
  }
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(operand.shape()[i] + low[i] + high[i]);
    const bool pads = !IsZero(low[i]) || !IsZero(high[i]);
    if (operands == 1 && pads && IsZero(operand.shape()[i]) &&
        !IsZero(shape.back())) {
      return Mismatch("operand 0: expected elements to repeat, found dim ",
                      std::to_string(i), " of extent 0");
    }
  }
  return OneType(operand.dtype(), std::move(shape));
}

Scalar Clamp(Scalar index, Scalar zero, Scalar last) {
  return Maximum(Minimum(index, last), zero);
}

// Returns the index that padding mode "reflect" reads: an index outside of the
// dim is mirrored at the first and the last element as often as needed, or only
// once if `once` says that this suffices. The final clamp changes no index, but
// it lets later analysis prove the range.
Scalar ReflectIndex(ElementContext& context, Scalar index, const Dim& dim,
                    bool once) {
  const Scalar zero = context.Index(0);
  const Scalar last = context.Extent(dim - 1);
  const Scalar period = context.Extent((dim - 1) * 2);
  const Scalar folded =
      once ? Maximum(index, zero - index) : Modulo(index, period);
  return Clamp(Minimum(folded, period - folded), zero, last);
}

Scalar SourceIndex(ElementContext& context, PadMode mode, Scalar index,
                   size_t dim) {
  const Dim& extent = context.operation().operand(0)->shape()[dim];
  const Dim& low = ShapeOf(context.operation(), "low")[dim];
  const Dim& high = ShapeOf(context.operation(), "high")[dim];
  if (IsZero(low) && IsZero(high)) return index;
  const Scalar source = IsZero(low) ? index : index - context.Extent(low);
  switch (mode) {
    case PadMode::kConstant:
      return source;
    case PadMode::kEdge:
      return Clamp(source, context.Index(0), context.Extent(extent - 1));
    case PadMode::kReflect: {
      const bool once =
          SurelyBelow(low - extent, 0) && SurelyBelow(high - extent, 0);
      return ReflectIndex(context, source, extent, once);
    }
    case PadMode::kWrap:
      return Modulo(source, context.Extent(extent));
  }
  return source;
}

Scalar DefinePad(ElementContext& context, Indices indices) {
  const Operation& operation = context.operation();
  const PadMode mode = *PadModeNamed(StringOf(operation, "mode"));
  std::vector<Scalar> own;
  for (size_t i = 0; i < indices.size(); ++i) {
    own.push_back(SourceIndex(context, mode, indices[i], i));
  }
  if (mode != PadMode::kConstant) return context.Load(0, own);
  auto crops = [](const Dim& pad) {
    return pad.is_constant() && pad.constant() <= 0;
  };
  const Shape& low = ShapeOf(operation, "low");
  const Shape& high = ShapeOf(operation, "high");
  if (std::all_of(low.begin(), low.end(), crops) &&
      std::all_of(high.begin(), high.end(), crops)) {
    return context.Load(0, own);
  }
  return context.Pad(0, own, context.Load(1, {}));
}

InferredTypes InferConcat(const Operation& operation) {
  const Value& first = *operation.operand(0);
  EMBER_RETURN_IF_ERROR(CheckAxis(operation, "axis", first.rank()));
  if (operation.operand_count() > kMaxConcatOperands) {
    return Mismatch("expected at most ", std::to_string(kMaxConcatOperands),
                    " operands, found ",
                    std::to_string(operation.operand_count()));
  }
  const auto axis = static_cast<size_t>(IntegerOf(operation, "axis"));
  Shape shape = first.shape();
  for (int i = 1; i < operation.operand_count(); ++i) {
    const Value& operand = *operation.operand(i);
    EMBER_RETURN_IF_ERROR(CheckSameDType(operation, 0, i));
    EMBER_RETURN_IF_ERROR(CheckRank(operation, i, first.rank()));
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d == axis) continue;
      EMBER_RETURN_IF_ERROR(CheckSameDim(
          shape[d], "in operand 0", operand.shape()[d],
          "dim " + std::to_string(d) + " of operand " + std::to_string(i)));
    }
    shape[axis] = shape[axis] + operand.shape()[axis];
  }
  return OneType(first.dtype(), std::move(shape));
}

void DefineConcat(StagesContext& context) {
  const Operation& operation = context.operation();
  const auto axis = static_cast<size_t>(IntegerOf(operation, "axis"));
  Dim offset = 0;
  for (int i = 0; i < operation.operand_count(); ++i) {
    const Shape& shape = operation.operand(i)->shape();
    StageContext& stage = context.AddStage();
    std::vector<Scalar> axes;
    for (const Dim& dim : shape) axes.push_back(stage.SpatialAxis(dim));
    const Scalar value = stage.Load(i, axes);
    std::vector<Scalar> place = axes;
    place[axis] = axes[axis] + stage.Extent(offset);
    stage.Yield(value, 0, place);
    offset = offset + shape[axis];
  }
}

InferredTypes InferAssume(const Operation& operation) {
  const Value& operand = *operation.operand(0);
  const Shape& shape = ShapeOf(operation, "shape");
  EMBER_RETURN_IF_ERROR(
      CheckRank(operation, 0, static_cast<int>(shape.size())));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is_constant() || !operand.shape()[i].is_constant()) continue;
    EMBER_RETURN_IF_ERROR(
        CheckSameDim(shape[i], "in shape", operand.shape()[i],
                     "dim " + std::to_string(i) + " of operand 0"));
  }
  return OneType(operand.dtype(), shape);
}

Scalar DefineAssume(ElementContext& context, Indices indices) {
  return context.Load(0, indices);
}

constexpr AttributeSpec kShapeAttribute[] = {
    {"shape", AttributeKind::kShape, true, "The shape of the result."},
};
constexpr AttributeSpec kTransposeAttributes[] = {
    {"permutation", AttributeKind::kIntegers, true,
     "Result dim i is operand dim permutation[i]."},
};
constexpr AttributeSpec kSliceAttributes[] = {
    {"starts", AttributeKind::kShape, true, "First element per dim."},
    {"steps", AttributeKind::kIntegers, true,
     "Step per dim, not 0; negative goes backward."},
    {"sizes", AttributeKind::kShape, true, "Number of elements per dim."},
};
constexpr AttributeSpec kPadAttributes[] = {
    {"low", AttributeKind::kShape, true,
     "Elements before, per dim; negative crops."},
    {"high", AttributeKind::kShape, true,
     "Elements after, per dim; negative crops."},
    {"mode", AttributeKind::kString, true, "constant, edge, reflect or wrap."},
};
constexpr AttributeSpec kConcatAttributes[] = {
    {"axis", AttributeKind::kInteger, true,
     "The dim along which operands follow each other."},
};

const OperatorRecord kRecords[] = {
    {.name = "reshape",
     .doc = "The same elements in row-major order with another shape.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kShapeAttribute,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kOperand,
     .reading = Reading::kReshaped,
     .infer = InferReshape,
     .definition = {.element = DefineReshape}},
    {.name = "assume",
     .doc = "The operand, whose dims are taken to be those of shape; the "
            "program checks it.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kShapeAttribute,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kOperand,
     .infer = InferAssume,
     .definition = {.element = DefineAssume}},
    {.name = "transpose",
     .doc = "Permutes dims: result dim i is operand dim permutation[i].",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kTransposeAttributes,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kPermuted,
     .infer = InferTranspose,
     .definition = {.element = DefineTranspose}},
    {.name = "broadcast",
     .doc = "Repeats dims of extent 1, and new leading dims.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kShapeAttribute,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kGiven,
     .infer = InferBroadcast,
     .definition = {.element = DefineBroadcast}},
    {.name = "slice",
     .doc = "Elements start + i * step of each dim.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kSliceAttributes,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kGiven,
     .infer = InferSlice,
     .definition = {.element = DefineSlice}},
    {.name = "pad",
     .doc = "Adds elements around: a scalar operand, or repeats of the border "
            "(edge), mirrored "
            "(reflect) or periodic (wrap). Negative amounts crop.",
     .minimum_operands = 1,
     .maximum_operands = 2,
     .attributes = kPadAttributes,
     .trait = OperatorTrait::kView,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kPadded,
     .infer = InferPad,
     .definition = {.element = DefinePad}},
    {.name = "concat",
     .doc = "Operands one after the other along an axis.",
     .minimum_operands = 1,
     .maximum_operands = -1,
     .attributes = kConcatAttributes,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kJoined,
     .infer = InferConcat,
     .definition = {.stages = DefineConcat}},
};

}  // namespace

std::span<const OperatorRecord> MovementOperators() { return kRecords; }

}  // namespace ember::graph

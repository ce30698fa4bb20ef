// Imports operators that return parts of a tensor or that pad a tensor: slice,
// split, pad, center-crop.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dim_checks.h"
#include "frontends/onnx/operators/dynamic_axes.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/slice_bounds.h"

namespace ember::onnx {
namespace {

// Returns the extents of the parts of a Split: the given ones, or equal ones,
// of which the last may be smaller; nullopt after an error.
std::optional<Shape> SplitSizes(NodeContext& c, const Dim& extent) {
  if (c.Input(1)) {
    // The operand `split` may have an open length. The length is the node's
    // number of outputs, which is known.
    Tensor sizes = c.Input(1);
    if (sizes.rank() == 1) sizes = WithDim(sizes, 0, Dim(c.output_count()));
    return c.Sizes(sizes, "split (input 1)");
  }
  if (const auto attribute = c.Integers("split")) {
    return Shape(attribute->begin(), attribute->end());
  }
  const int64_t parts = c.Integer("num_outputs", c.output_count());
  if (parts < 1 || parts > c.output_count()) {
    c.FailInvalid("attribute 'num_outputs': expected " +
                  std::to_string(c.output_count()) + ", found " +
                  std::to_string(parts));
    return std::nullopt;
  }
  const Dim size = CeilDivide(extent, Dim(parts));
  Shape sizes(parts - 1, size);
  sizes.push_back(extent - size * Dim(parts - 1));
  return sizes;
}

// Checks that the sizes of a Split add up to the extent of the axis. A wrong
// sum fails the import if it is known when compiling, else the run.
void CheckSum(NodeContext& c, const Shape& sizes, const Dim& extent) {
  Dim sum(0);
  for (const Dim& size : sizes) sum = sum + size;
  RequireEqual(c, sum, extent,
               "split: expected sizes whose sum is " + extent.ToString() +
                   ", found " + graph::ShapeToString(sizes));
}

void ImportSplit(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  const std::optional<Shape> sizes = SplitSizes(c, x.dim(axis));
  if (!sizes) return;
  if (static_cast<int>(sizes->size()) < c.output_count()) {
    return c.FailInvalid("split: expected " + std::to_string(c.output_count()) +
                         " sizes, found " + std::to_string(sizes->size()));
  }
  CheckSum(c, *sizes, x.dim(axis));
  Dim start(0);
  for (int i = 0; i < c.output_count(); ++i) {
    if (c.WantsOutput(i))
      c.SetOutput(i, SliceAxis(x, axis, start, (*sizes)[i]));
    start = start + (*sizes)[i];
  }
}

// Returns the range of a slice with a negative step: from position `start` down
// to the one after `end`. A start before the axis means element 0.
ops::SliceRange BackwardSlice(const Dim& start, const Dim& end, int64_t step,
                              const Dim& extent) {
  const Dim first = LargerOf(ops::ClampedBound(start, extent, /*shift=*/1),
                             SmallerOf(extent, Dim(1)));
  const Dim last = ops::ClampedBound(end, extent, /*shift=*/1);
  const Dim size = CeilDivide(first - last, Dim(-step));
  return {first - Dim(1), last == Dim(0) ? size : LargerOf(size, Dim(0))};
}

ops::SliceRange ResolveSlice(const Dim& start, const Dim& end, int64_t step,
                             const Dim& extent) {
  if (extent == Dim(0)) return {Dim(0), Dim(0)};
  return step > 0 ? ops::ForwardSlice(start, end, step, extent)
                  : BackwardSlice(start, end, step, extent);
}

struct SliceOperands {
  Shape starts;
  Shape ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
};

// Returns the message of the error that an attribute is missing.
std::string Missing(std::string_view attribute) {
  return "attribute '" + std::string(attribute) + "' is missing";
}

// True if the starts and ends of a Slice are operands (opset 10 and later),
// false if they are attributes. Some models state a wrong opset, so the form
// that is present decides.
bool HasSliceOperands(NodeContext& c) {
  const bool has_operand = static_cast<bool>(c.Input(1));
  if (has_operand != c.HasAttribute("starts")) return has_operand;
  return c.opset() >= 10;
}

std::optional<SliceOperands> ReadSlice(NodeContext& c) {
  SliceOperands slice;
  std::optional<std::vector<int64_t>> axes;
  std::optional<std::vector<int64_t>> steps;
  if (!HasSliceOperands(c)) {
    for (const char* name : {"starts", "ends"}) {
      if (c.HasAttribute(name)) continue;
      c.FailInvalid(Missing(name));
      return std::nullopt;
    }
    const std::vector<int64_t> starts = c.Integers("starts", {});
    const std::vector<int64_t> ends = c.Integers("ends", {});
    slice.starts.assign(starts.begin(), starts.end());
    slice.ends.assign(ends.begin(), ends.end());
    axes = c.Integers("axes");
  } else {
    std::optional<Shape> starts = c.Contents(1, "starts");
    std::optional<Shape> ends = c.Contents(2, "ends");
    if (!starts || !ends) return std::nullopt;
    slice.starts = *std::move(starts);
    slice.ends = *std::move(ends);
    if (c.Input(3)) axes = c.ConstantIntegers(3, "axes");
    if (c.Input(4)) steps = c.ConstantIntegers(4, "steps");
  }
  if (!c.ok()) return std::nullopt;
  if (!axes) {
    axes.emplace(slice.starts.size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(slice.starts.size(), 1);
  const size_t count = slice.starts.size();
  if (slice.ends.size() != count || axes->size() != count ||
      steps->size() != count) {
    c.FailInvalid("expected as many starts as ends, axes and steps, found " +
                  std::to_string(count) + ", " +
                  std::to_string(slice.ends.size()) + ", " +
                  std::to_string(axes->size()) + " and " +
                  std::to_string(steps->size()));
    return std::nullopt;
  }
  slice.axes = c.DistinctAxes(*axes, c.Input(0).rank());
  slice.steps = *std::move(steps);
  if (!c.ok()) return std::nullopt;
  return slice;
}

// Imports a Slice whose starts or ends depend on data: the program clamps them,
// and reads the start and length of each slice.
void ImportDynamicSlice(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(1, 1, 1) || !c.CheckRank(2, 1, 1)) return;
  std::vector<int64_t> axes;
  std::optional<int64_t> count = c.Input(1).dim(0).AsConstant();
  if (c.Input(3)) {
    axes = c.ConstantIntegers(3, "axes").value_or(axes);
    // Each axis has one start, so a number of starts that depends on data is
    // known from the number of axes.
    if (!count) count = static_cast<int64_t>(axes.size());
  } else if (count) {
    if (*count > x.rank()) {
      return c.FailInvalid("starts (input 1): expected at most " +
                           std::to_string(x.rank()) + ", found " +
                           std::to_string(*count));
    }
    axes.resize(static_cast<size_t>(*count));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (!count)
    return c.FailUnsupported("starts (input 1): expected a known number");
  std::vector<int64_t> steps(axes.size(), 1);
  if (c.Input(4)) steps = c.ConstantIntegers(4, "steps").value_or(steps);
  if (!c.ok()) return;
  if (axes.size() != static_cast<size_t>(*count) || steps.size() != axes.size())
    return c.FailInvalid("expected as many starts as axes and steps, found " +
                         std::to_string(*count) + ", " +
                         std::to_string(axes.size()) + " and " +
                         std::to_string(steps.size()));
  axes = c.DistinctAxes(axes, x.rank());
  if (!c.ok()) return;
  Shape extents;
  // An entry for each axis: 1 if its step is negative, else 0.
  std::vector<int64_t> backward;
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0)
      return c.FailInvalid("steps: expected values other than 0");
    extents.push_back(x.dim(static_cast<int>(axes[i])));
    backward.push_back(steps[i] < 0 ? 1 : 0);
    lengths.push_back(
        std::min(std::abs(std::max(steps[i], -INT64_MAX)), int64_t{1} << 40));
  }
  const Tensor extent = c.Wrap(c.builder().ShapeValue(extents));
  const Tensor back = c.Integers64(backward);
  const Tensor length = c.Integers64(lengths);
  const auto clamped = [&](int input, Tensor low) {
    Tensor bound = Cast(c.Input(input), DType::kI64);
    if (bound.dim(0) != Dim(*count))
      bound = Apply("assume", {bound}, {{"shape", Shape{Dim(*count)}}});
    // A negative bound counts from the end, so the extent is added. It is
    // clamped before, as the sum would wrap for the smallest integers.
    bound =
        Select(Less(bound, 0), Maximum(bound, -extent - 1.0) + extent, bound);
    return Minimum(Maximum(bound, low), extent - back);
  };
  const Tensor start = clamped(1, back.Like(0));
  const Tensor end = clamped(2, -back);
  const Tensor distance = Select(Equal(back, 1), start - end, end - start);
  const Tensor size =
      Maximum(Binary(Opcode::kFloorDivide, distance + length - 1.0, length), 0);
  const auto starts = c.Sizes(Maximum(start, 0), "starts (input 1)");
  const auto sizes = c.Sizes(size, "ends (input 2)");
  if (!starts || !sizes) return;
  Shape all_starts(static_cast<size_t>(x.rank()), Dim(0));
  Shape all_sizes = x.shape();
  std::vector<int64_t> all_steps(static_cast<size_t>(x.rank()), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    all_starts[axis] = (*starts)[i];
    all_sizes[axis] = (*sizes)[i];
    all_steps[axis] = backward[i] == 1 ? -lengths[i] : lengths[i];
  }
  c.SetOutput(0, Slice(x, all_starts, std::move(all_steps), all_sizes));
}

// Imports a Slice whose axes or steps are known only at run time. Every dim is
// sliced; dims that are no axes are sliced from end to end.
void ImportSliceByData(NodeContext& c) {
  const Tensor x = c.Input(0);
  const int rank = x.rank();
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1) || !c.CheckRank(2, 1, 1))
    return;
  // starts, ends, axes and steps have the same length. If that of `starts` is
  // open, it is taken from an operand of known length.
  Dim count = c.Input(1).dim(0);
  for (const int input : {2, 3, 4}) {
    if (!count.is_constant() && c.Input(input) && c.Input(input).rank() == 1)
      count =
          c.Input(input).dim(0).is_constant() ? c.Input(input).dim(0) : count;
  }
  const auto operand = [&](int input) {
    return WithDim(Cast(c.Input(input), DType::kI64), 0, count);
  };
  std::optional<Tensor> axes = IotaVector(c.builder(), count, DType::kI64);
  if (c.Input(3)) {
    if (!c.CheckRank(3, 1, 1)) return;
    axes = CheckDynamicAxes(c, 3, operand(3), rank);
    if (!axes) return;
  } else if (!count.is_constant()) {
    RequireAtMost(c, count, Dim(rank),
                  "starts (input 1): expected at most " + std::to_string(rank));
  }
  const Tensor extent = c.Wrap(c.builder().ShapeValue(x.shape()));
  const auto spread = [&](Tensor values, Tensor otherwise) {
    return SpreadOverDims(*axes, values, otherwise, rank);
  };
  const Tensor zero = c.Scalar(0, DType::kI64);
  const Tensor one = c.Scalar(1, DType::kI64);
  // Steps are clamped to kFar, which is larger than any extent: such a step
  // selects only the first element anyway.
  constexpr double kFar = static_cast<double>(int64_t{1} << 40);
  Tensor step = one;
  if (c.Input(4)) {
    step = spread(Minimum(Maximum(operand(4), -kFar), kFar), one);
    const Tensor forward =
        Reduce(Cast(NotEqual(step, 0), DType::kU8), "minimum", {0}, false);
    c.builder().Require(NotEqual(forward, 0).value(),
                        "steps: expected values other than 0");
  } else {
    step = spread(Broadcast(one, {count}), one);
  }
  const Tensor back = Cast(Less(step, 0), DType::kI64);
  const auto clamped = [&](int input, Tensor otherwise, Tensor low) {
    Tensor bound = spread(operand(input), otherwise);
    // A negative bound counts from the end, so the extent is added. It is
    // clamped before, as the sum would wrap for the smallest integers.
    bound =
        Select(Less(bound, 0), Maximum(bound, -extent - 1.0) + extent, bound);
    return Minimum(Maximum(bound, low), extent - back);
  };
  const Tensor start = clamped(1, zero, zero);
  const Tensor end = clamped(2, extent, -back);
  const Tensor length = Absolute(step);
  const Tensor distance = Select(Equal(back, 1), start - end, end - start);
  const std::optional<Shape> sizes = c.Sizes(
      Maximum(Binary(Opcode::kFloorDivide, distance + length - 1.0, length), 0),
      "sizes");
  if (!sizes) return;
  const auto element = [](Tensor values, int index) {
    return Reshape(SliceAxis(values, 0, Dim(index), Dim(1)), {});
  };
  Tensor y = x;
  for (int i = 0; i < rank; ++i) {
    const Tensor place = IotaVector(c.builder(), (*sizes)[i], DType::kI64);
    y = Gather(y, place * element(step, i) + element(start, i), i);
  }
  c.SetOutput(0, y);
}

void ImportSlice(NodeContext& c) {
  Tensor x = c.Input(0);
  if (c.ok() && HasSliceOperands(c) && c.Input(1) && c.Input(2)) {
    const auto open = [&](int input) {
      return c.Input(input) && !c.IsKnown(input);
    };
    if (open(3) || open(4)) return ImportSliceByData(c);
    if (open(1) || open(2)) return ImportDynamicSlice(c);
  }
  const std::optional<SliceOperands> slice = ReadSlice(c);
  if (!slice) return;
  Shape starts(x.rank(), Dim(0));
  Shape sizes = x.shape();
  std::vector<int64_t> steps(x.rank(), 1);
  for (size_t i = 0; i < slice->axes.size(); ++i) {
    const int64_t axis = slice->axes[i];
    // Steps are clamped to kFar, which is larger than any extent: such a step
    // selects only the first element anyway.
    const int64_t far = int64_t{1} << 40;
    const int64_t step = std::clamp(slice->steps[i], -far, far);
    if (step == 0) return c.FailInvalid("steps: expected values other than 0");
    const ops::SliceRange range =
        ResolveSlice(slice->starts[i], slice->ends[i], step, x.dim(axis));
    starts[axis] = range.start;
    sizes[axis] = range.size;
    steps[axis] = step;
  }
  c.SetOutput(0, Slice(x, starts, std::move(steps), sizes));
}

// Reads the pads of a Pad as two numbers, low and high, for each dim. They are
// an attribute before opset 11, then operand 1, which may be for some axes only
// since opset 18. An operand is read at any opset. Nullopt after an error.
std::optional<std::pair<Shape, Shape>> ReadPads(NodeContext& c, int rank) {
  std::optional<Shape> pads;
  if (c.Input(1) || c.opset() >= 11) {
    if (!c.CheckRank(1, 1, 2)) return std::nullopt;
    // com.microsoft's Pad allows the pads to be [1, 2 * rank]; the dim of 1 is
    // dropped.
    Tensor operand = c.Input(1);
    if (operand.rank() == 2) operand = Squeeze(operand, {0});
    pads = c.SignedSizesOf(operand, "pads (input 1)");
  } else if (const auto attribute =
                 c.Integers(c.opset() < 2 ? "paddings" : "pads")) {
    pads = Shape(attribute->begin(), attribute->end());
  }
  if (!c.ok()) return std::nullopt;
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.Input(3)) {
    const std::optional<std::vector<int64_t>> given =
        c.ConstantIntegers(3, "axes");
    if (!given) return std::nullopt;
    axes = c.DistinctAxes(*given, rank);
  }
  const size_t count = axes.size();
  if (!pads || pads->size() != 2 * count) {
    c.FailInvalid("pads: expected " + std::to_string(2 * count) +
                  " values, found " + std::to_string(pads ? pads->size() : 0));
    return std::nullopt;
  }
  if (!c.ok()) return std::nullopt;
  Shape low(rank, Dim(0));
  Shape high(rank, Dim(0));
  for (size_t i = 0; i < count; ++i) {
    low[axes[i]] = (*pads)[i];
    high[axes[i]] = (*pads)[count + i];
  }
  return std::pair(low, high);
}

// Returns the value with which x is padded if the model gives none: 0, or ""
// for strings.
Tensor ZeroLike(NodeContext& c, Tensor x) {
  return x.carried_type() == TensorProto::STRING ? c.StringScalar("")
                                                 : x.Like(0);
}

// Pads with elements of x. Where pads are negative, x is cropped first, so that
// only elements that remain are repeated.
Tensor PadWithElements(NodeContext& c, Tensor x, Shape low, Shape high,
                       const std::string& mode) {
  Shape cut_low = low;
  Shape cut_high = high;
  bool is_cut = false;
  for (size_t i = 0; i < low.size(); ++i) {
    // A pad that is only known at run time may be a cut. It is written with a
    // maximum, so that the bounds of the expression show that a cut never
    // enlarges x.
    cut_low[i] = Dim(0) - LargerOf(Dim(0) - low[i], Dim(0));
    cut_high[i] = Dim(0) - LargerOf(Dim(0) - high[i], Dim(0));
    low[i] = LargerOf(low[i], Dim(0));
    high[i] = LargerOf(high[i], Dim(0));
    is_cut = is_cut || cut_low[i] != Dim(0) || cut_high[i] != Dim(0);
  }
  if (is_cut) x = Pad(x, cut_low, cut_high, "constant", ZeroLike(c, x));
  return Pad(x, low, high, mode, Tensor());
}

void ImportPad(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::string mode = c.String("mode", "constant");
  const auto pads = ReadPads(c, x.rank());
  if (!pads) return;
  if (mode != "constant")
    return c.SetOutput(0,
                       PadWithElements(c, x, pads->first, pads->second, mode));
  Tensor value = c.opset() < 11 ? x.Like(c.Float("value", 0)) : ZeroLike(c, x);
  if (c.Input(2)) value = Reshape(Cast(c.Input(2), x.dtype()), {});
  c.SetOutput(0, Pad(x, pads->first, pads->second, mode, value));
}

// Imports CenterCropPad, which crops or pads each axis around its middle.
void ImportCenterCropPad(NodeContext& c) {
  Tensor x = c.Input(0);
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  axes = c.DistinctAxes(c.Integers("axes", axes), x.rank());
  const std::optional<Shape> target = c.Sizes(1, "shape");
  if (!target || !c.ok()) return;
  if (target->size() != axes.size())
    return c.FailInvalid("shape: expected one extent per axis");
  Shape low(x.rank(), Dim(0));
  Shape high(x.rank(), Dim(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim change = (*target)[i] - x.dim(axes[i]);
    // The elements are cropped or added half before and half after the data.
    // For an odd number, the part before the data is the smaller one.
    const Dim grown = LargerOf(change, Dim(0));
    const Dim cut = LargerOf(Dim(0) - change, Dim(0));
    low[axes[i]] = FloorDivide(grown, Dim(2)) - FloorDivide(cut, Dim(2));
    high[axes[i]] = change - low[axes[i]];
  }
  c.SetOutput(0, Pad(x, low, high, "constant", ZeroLike(c, x)));
}

constexpr OperatorRow kRows[] = {
    {"CenterCropPad", 18, 2, 2, ImportCenterCropPad, "", Moves({0})},
    {"Pad", 1, 1, 4, ImportPad, "", Moves({0, 2})},
    {.name = "Pad",
     .since = 1,
     .minimum_inputs = 2,
     .maximum_inputs = 3,
     .import = ImportPad,
     .domain = "com.microsoft",
     .as_opset = 13},
    // DynamicSlice is an experimental operator: the form of Slice with
    // operands, from before opset 10. It follows the rules of Slice 10.
    {"DynamicSlice", 1, 3, 4, ImportSlice, "", Moves({0}), 10},
    {"Slice", 1, 1, 5, ImportSlice, "", Moves({0})},
    {"Split", 1, 1, 2, ImportSplit, "", Moves({0})},
};

}  // namespace

std::span<const OperatorRow> SlicingOperators() { return kRows; }

}  // namespace ember::onnx

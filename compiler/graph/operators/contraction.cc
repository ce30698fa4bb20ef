// Defines contract, conv and conv_transpose: sums of products of two operands.
//
// Operands that are narrow floats are cast to f32 before they are multiplied,
// and the result is f32: rounding each product to few bits would lose what the
// sum needs.
#include <map>
#include <numeric>

#include "base/checked_math.h"
#include "compiler/graph/operators/contract_spec.h"
#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

DType SumType(DType operand) {
  return IsNarrowFloat(operand) ? DType::kF32 : operand;
}

Scalar Widen(Scalar value) { return Cast(value, SumType(value.type())); }

Status CheckOperandTypes(const Operation& operation) {
  if (operation.operand(0)->dtype() == DType::kBool) {
    return Mismatch("operand 0: expected numbers, found bool");
  }
  return CheckSameDType(operation, 0, 1);
}

// --- contract ---

Status CheckLabels(const std::string& labels, const Value& operand,
                   std::string_view what, std::map<char, Dim>& extents) {
  if (static_cast<int>(labels.size()) != operand.rank()) {
    return Mismatch(what, ": expected rank ", std::to_string(labels.size()),
                    " for labels \"", labels, "\", found ",
                    ToString(operand.type()));
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto [entry, inserted] =
        extents.emplace(labels[i], operand.shape()[i]);
    if (inserted || entry->second == operand.shape()[i]) continue;
    return Mismatch(what, ": expected ", entry->second.ToString(),
                    " for label ", std::string(1, labels[i]), ", found ",
                    operand.shape()[i].ToString(), " in ",
                    ToString(operand.type()));
  }
  return OkStatus();
}

InferredTypes InferContract(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckOperandTypes(operation));
  EMBER_ASSIGN_OR_RETURN(const ContractSpec spec,
                         ContractSpec::Parse(StringOf(operation, "spec")));
  std::map<char, Dim> extents;
  EMBER_RETURN_IF_ERROR(
      CheckLabels(spec.a, *operation.operand(0), "operand 0", extents));
  EMBER_RETURN_IF_ERROR(
      CheckLabels(spec.b, *operation.operand(1), "operand 1", extents));
  Shape shape;
  for (char label : spec.result) shape.push_back(extents.at(label));
  return OneType(SumType(operation.operand(0)->dtype()), std::move(shape));
}

void DefineContract(StagesContext& context) {
  const Operation& operation = context.operation();
  const ContractSpec spec = *ContractSpec::Parse(StringOf(operation, "spec"));
  std::map<char, Dim> extents;
  for (size_t i = 0; i < spec.a.size(); ++i)
    extents[spec.a[i]] = operation.operand(0)->shape()[i];
  for (size_t i = 0; i < spec.b.size(); ++i)
    extents[spec.b[i]] = operation.operand(1)->shape()[i];
  StageContext& stage = context.AddStage();
  std::map<char, Scalar> axes;
  for (char label : spec.result)
    axes[label] = stage.SpatialAxis(extents.at(label));
  const std::string reduced = spec.Reduced();
  for (char label : reduced)
    axes[label] = stage.ReductionAxis(extents.at(label));
  auto indices = [&](const std::string& labels) {
    std::vector<Scalar> result;
    for (char label : labels) result.push_back(axes.at(label));
    return result;
  };
  const Scalar a = Widen(stage.Load(0, indices(spec.a)));
  const Scalar b = Widen(stage.Load(1, indices(spec.b)));
  stage.Yield(
      a * b, 0, indices(spec.result),
      reduced.empty() ? tensor::Combiner::kNone : tensor::Combiner::kSum);
}

// --- helpers of conv and conv_transpose ---

// The dims of a convolution, taken from the shapes of its operands.
struct ConvolutionDims {
  // Number of spatial dims, that is, without batch and channels.
  size_t spatial = 0;
  int64_t groups = 1;
  Dim inputs, outputs;  // numbers of input and output channels in each group
};

ConvolutionDims DimsOfConvolution(const Operation& operation, bool transposed) {
  ConvolutionDims dims;
  dims.spatial = static_cast<size_t>(operation.operand(0)->rank()) - 2;
  dims.groups = IntegerOf(operation, "groups");
  const Shape& weights = operation.operand(1)->shape();
  const Dim groups = dims.groups;
  const Dim& inputs = weights[dims.spatial];
  const Dim& outputs = weights[dims.spatial + 1];
  dims.inputs = transposed ? FloorDivide(inputs, groups) : inputs;
  dims.outputs = transposed ? outputs : FloorDivide(outputs, groups);
  return dims;
}

Status CheckConvolution(const Operation& operation, bool transposed) {
  EMBER_RETURN_IF_ERROR(CheckOperandTypes(operation));
  const Value& x = *operation.operand(0);
  const Value& w = *operation.operand(1);
  if (x.rank() < 3) {
    return Mismatch(
        "operand 0: expected rank of at least 3 (N, spatial dims, C), found ",
        ToString(x.type()));
  }
  EMBER_RETURN_IF_ERROR(CheckRank(operation, 1, x.rank()));
  const auto spatial = static_cast<size_t>(x.rank()) - 2;
  for (std::string_view name : {"strides", "dilations"}) {
    EMBER_RETURN_IF_ERROR(
        CheckLength(IntegersOf(operation, name).size(), name, spatial));
    EMBER_RETURN_IF_ERROR(CheckPositive(IntegersOf(operation, name), name));
  }
  for (std::string_view name : {"low", "high"}) {
    EMBER_RETURN_IF_ERROR(
        CheckLength(ShapeOf(operation, name).size(), name, spatial));
  }
  const int64_t groups = IntegerOf(operation, "groups");
  EMBER_RETURN_IF_ERROR(CheckPositive(std::span(&groups, 1), "groups"));
  for (size_t i = 0; i < spatial; ++i) {
    if (SurelyBelow(w.shape()[i], 1)) {
      return Mismatch("operand 1: expected a window of at least 1, found ",
                      ToString(w.type()));
    }
  }
  const Dim expected =
      transposed ? w.shape()[spatial] : w.shape()[spatial] * Dim(groups);
  EMBER_RETURN_IF_ERROR(CheckSameDim(expected, "in operand 1", x.shape().back(),
                                     "channels of operand 0"));
  const Dim& divided = transposed ? x.shape().back() : w.shape().back();
  if (!IsZero(Modulo(divided, Dim(groups)))) {
    return Mismatch("groups: expected a divisor of the ", divided.ToString(),
                    " channels, found ", std::to_string(groups));
  }
  return OkStatus();
}

// Axes of a convolution's channels in its stage. If a group has only one input
// (or output) channel, there is no axis for the channels of the group.
struct ChannelAxes {
  Scalar output;  // index of the output channel, counted over all groups
  Scalar output_in_group;
  // Index of the group. It is set only if there are several groups.
  Scalar group;
};

ChannelAxes OutputChannels(StageContext& stage, const ConvolutionDims& dims) {
  ChannelAxes axes;
  if (dims.groups == 1) {
    axes.output = axes.output_in_group = stage.SpatialAxis(dims.outputs);
    return axes;
  }
  axes.group = stage.SpatialAxis(Dim(dims.groups));
  if (IsOne(dims.outputs)) {
    axes.output = axes.group;
    axes.output_in_group = stage.Index(0);
  } else {
    axes.output_in_group = stage.SpatialAxis(dims.outputs);
    axes.output =
        axes.group * stage.Extent(dims.outputs) + axes.output_in_group;
  }
  return axes;
}

// Adds a reduction axis with this extent to the stage and returns its index. If
// the extent is 1, no axis is needed: the index is the constant 0.
Scalar Reduce(StageContext& stage, const Dim& extent, bool& reduces) {
  if (IsOne(extent)) return stage.Index(0);
  reduces = true;
  return stage.ReductionAxis(extent);
}

Scalar InputChannel(StageContext& stage, const ConvolutionDims& dims,
                    const ChannelAxes& axes, Scalar in_group) {
  if (dims.groups == 1) return in_group;
  return axes.group * stage.Extent(dims.inputs) + in_group;
}

void YieldSum(StageContext& stage, Scalar x, Scalar w,
              std::span<const Scalar> place, bool reduces) {
  stage.Yield(Widen(x) * Widen(w), 0, place,
              reduces ? tensor::Combiner::kSum : tensor::Combiner::kNone);
}

Scalar LoadOrPad(StageContext& stage, std::span<const Scalar> indices,
                 bool pads) {
  if (!pads) return stage.Load(0, indices);
  return stage.Pad(0, indices,
                   ZeroOf(stage, stage.operation().operand(0)->dtype()));
}

// --- conv ---

InferredTypes InferConv(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckConvolution(operation, false));
  const Shape& x = operation.operand(0)->shape();
  const Shape& w = operation.operand(1)->shape();
  Shape shape{x[0]};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    shape.push_back(WindowedExtent(
        x[i + 1], w[i], IntegersOf(operation, "strides")[i],
        IntegersOf(operation, "dilations")[i], ShapeOf(operation, "low")[i],
        ShapeOf(operation, "high")[i]));
    if (SurelyBelow(shape.back(), 0)) {
      return Mismatch(
          "operand 1: expected a window within the padded extent of spatial "
          "dim ",
          std::to_string(i), " of ", ToString(operation.operand(0)->type()),
          ", found ", ToString(operation.operand(1)->type()));
    }
  }
  shape.push_back(w.back());
  return OneType(SumType(operation.operand(0)->dtype()), std::move(shape));
}

void DefineConv(StagesContext& context) {
  const Operation& operation = context.operation();
  const ConvolutionDims dims = DimsOfConvolution(operation, false);
  const Shape& result = operation.result()->shape();
  const Shape& weights = operation.operand(1)->shape();
  const Shape& low = ShapeOf(operation, "low");
  const Shape& high = ShapeOf(operation, "high");
  StageContext& stage = context.AddStage();
  std::vector<Scalar> place;
  for (size_t i = 0; i <= dims.spatial; ++i)
    place.push_back(stage.SpatialAxis(result[i]));
  const ChannelAxes channels = OutputChannels(stage, dims);
  place.push_back(channels.output);

  bool reduces = false, pads = false;
  std::vector<Scalar> x_index{place[0]}, w_index;
  for (size_t i = 0; i < dims.spatial; ++i) {
    const Scalar tap = Reduce(stage, weights[i], reduces);
    Scalar index = place[i + 1] * IntegersOf(operation, "strides")[i] +
                   tap * IntegersOf(operation, "dilations")[i];
    if (!IsZero(low[i])) index = index - stage.Extent(low[i]);
    pads = pads || !IsZero(low[i]) || !IsZero(high[i]);
    x_index.push_back(index);
    w_index.push_back(tap);
  }
  const Scalar input = Reduce(stage, dims.inputs, reduces);
  x_index.push_back(InputChannel(stage, dims, channels, input));
  w_index.push_back(input);
  w_index.push_back(channels.output);
  YieldSum(stage, LoadOrPad(stage, x_index, pads), stage.Load(1, w_index),
           place, reduces);
}

// --- conv_transpose ---

InferredTypes InferConvTranspose(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckConvolution(operation, true));
  const Shape& x = operation.operand(0)->shape();
  const Shape& w = operation.operand(1)->shape();
  const auto& output_padding = IntegersOf(operation, "output_padding");
  EMBER_RETURN_IF_ERROR(
      CheckLength(output_padding.size(), "output_padding", x.size() - 2));
  Shape shape{x[0]};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const Dim span = (x[i + 1] - 1) * Dim(IntegersOf(operation, "strides")[i]) +
                     (w[i] - 1) * Dim(IntegersOf(operation, "dilations")[i]) +
                     1;
    shape.push_back(span - ShapeOf(operation, "low")[i] -
                    ShapeOf(operation, "high")[i] + Dim(output_padding[i]));
  }
  shape.push_back(w.back() * Dim(IntegerOf(operation, "groups")));
  return OneType(SumType(operation.operand(0)->dtype()), std::move(shape));
}

// One phase of a transposed convolution along one spatial dim: the outputs
// first, first + stride, …, and the taps (positions of the window) that
// contribute to these outputs:
//    output = step * stride + first, tap = tap_first + j * tap_step,
//    input = step + offset - j * input_step.
// If `checked` is true, the dim is not split into phases: output = step, tap =
// j, and the input is (step + offset - j * dilation) / stride for those taps
// where the division is exact.
struct Phase {
  bool checked = false;
  int64_t stride = 1, dilation = 1;
  Dim outputs, taps;
  int64_t first = 0, tap_first = 0, tap_step = 1, input_step = 1;
  Dim offset;
};

constexpr int64_t kMaxPhases = 64;
constexpr int64_t kMaxPhaseConstant = int64_t{1} << 31;

// The parameters of a transposed convolution along one spatial dim.
struct TransposedDim {
  Dim outputs, taps, low;
  int64_t stride, dilation;
};

// Returns the phase of the outputs first, first + stride, …. The dilated
// positions of its taps differ by multiples of the stride.
Phase PhaseAt(const TransposedDim& dim, int64_t first) {
  const int64_t common = std::gcd(dim.stride, dim.dilation);
  const int64_t tap_step = dim.stride / common;
  const int64_t target = first + dim.low.constant();
  Phase phase{.stride = dim.stride,
              .dilation = dim.dilation,
              .outputs = CeilDivide(dim.outputs - first, dim.stride),
              .taps = 0,
              .first = first,
              .tap_step = tap_step,
              .input_step = dim.dilation / common,
              .offset = {}};
  for (int64_t tap = 0; tap < tap_step; ++tap) {
    if (FloorRemainder(target - tap * dim.dilation, dim.stride) != 0) continue;
    const int64_t taps = dim.taps.constant();
    phase.tap_first = tap;
    phase.taps = tap < taps ? (taps - 1 - tap) / tap_step + 1 : 0;
    phase.offset = FloorQuotient(target - tap * dim.dilation, dim.stride);
  }
  return phase;
}

bool IsSmallConstant(const Dim& dim) {
  const auto value = dim.AsConstant();
  return value && *value > -kMaxPhaseConstant && *value < kMaxPhaseConstant;
}

std::vector<Phase> PhasesOf(const TransposedDim& dim, bool split) {
  if (dim.stride == 1) {
    return {Phase{.outputs = dim.outputs,
                  .taps = dim.taps,
                  .input_step = dim.dilation,
                  .offset = dim.low}};
  }
  if (!split || !IsSmallConstant(dim.low) || !IsSmallConstant(dim.taps)) {
    return {Phase{.checked = true,
                  .stride = dim.stride,
                  .dilation = dim.dilation,
                  .outputs = dim.outputs,
                  .taps = dim.taps,
                  .offset = dim.low}};
  }
  std::vector<Phase> phases;
  for (int64_t first = 0; first < dim.stride; ++first) {
    Phase phase = PhaseAt(dim, first);
    if (!IsZero(phase.outputs)) phases.push_back(std::move(phase));
  }
  // If the dim has no outputs, one empty phase is made nevertheless, because
  // the dispatch needs a stage that stores the result.
  if (phases.empty()) phases.push_back(PhaseAt(dim, 0));
  return phases;
}

// True if it is proved that all inputs that the phase reads are within the
// input's extent, so that no padding is needed.
bool StaysInside(const Phase& phase, const Dim& extent) {
  if (phase.checked) return false;
  const auto lowest =
      (phase.offset - Dim(phase.input_step) * (phase.taps - 1)).AsConstant();
  const auto left = (extent - phase.outputs - phase.offset).AsConstant();
  return lowest && *lowest >= 0 && left && *left >= 0;
}

void DefineTransposedStage(StageContext& stage, const ConvolutionDims& dims,
                           std::span<const Phase> phases) {
  const Operation& operation = stage.operation();
  std::vector<Scalar> steps,
      place{stage.SpatialAxis(operation.result()->shape()[0])};
  bool any_tap = true, pads = false, reduces = false;
  for (size_t i = 0; i < phases.size(); ++i) {
    steps.push_back(stage.SpatialAxis(phases[i].outputs));
    place.push_back(phases[i].checked ? steps[i]
                                      : steps[i] * phases[i].stride +
                                            stage.Index(phases[i].first));
    any_tap = any_tap && !IsZero(phases[i].taps);
    pads =
        pads || !StaysInside(phases[i], operation.operand(0)->shape()[i + 1]);
  }
  const ChannelAxes channels = OutputChannels(stage, dims);
  place.push_back(channels.output);
  if (!any_tap) {
    stage.Yield(ZeroOf(stage, operation.result()->dtype()), 0, place);
    return;
  }
  std::vector<Scalar> x_index{place[0]}, w_index, divides;
  for (size_t i = 0; i < phases.size(); ++i) {
    const Phase& phase = phases[i];
    const Scalar tap = Reduce(stage, phase.taps, reduces);
    const Scalar from = steps[i] + stage.Extent(phase.offset);
    w_index.push_back(tap * phase.tap_step + stage.Index(phase.tap_first));
    if (phase.checked) {
      const Scalar distance = from - tap * phase.dilation;
      x_index.push_back(FloorDivide(distance, phase.stride));
      divides.push_back(Modulo(distance, phase.stride) == stage.Index(0));
    } else {
      x_index.push_back(from - tap * phase.input_step);
    }
  }
  const Scalar input = Reduce(stage, dims.inputs, reduces);
  x_index.push_back(InputChannel(stage, dims, channels, input));
  w_index.push_back(x_index.back());
  w_index.push_back(channels.output_in_group);
  Scalar x = LoadOrPad(stage, x_index, pads);
  for (const Scalar& exact : divides)
    x = Select(exact, x, ZeroOf(stage, x.type()));
  YieldSum(stage, x, stage.Load(1, w_index), place, reduces);
}

void DefineConvTranspose(StagesContext& context) {
  const Operation& operation = context.operation();
  const ConvolutionDims dims = DimsOfConvolution(operation, true);
  const auto& strides = IntegersOf(operation, "strides");
  // The number of stages if every spatial dim is split into phases. If there
  // would be too many, dims are not split.
  int64_t count = 1;
  for (int64_t stride : strides) {
    count = stride > kMaxPhases ? kMaxPhases + 1
                                : std::min(count, kMaxPhases) * stride;
  }
  std::vector<std::vector<Phase>> phases;
  for (size_t i = 0; i < dims.spatial; ++i) {
    const TransposedDim dim{operation.result()->shape()[i + 1],
                            operation.operand(1)->shape()[i],
                            ShapeOf(operation, "low")[i], strides[i],
                            IntegersOf(operation, "dilations")[i]};
    phases.push_back(PhasesOf(dim, count <= kMaxPhases));
    // PhasesOf returns at least one phase. If a dim had none, there would be no
    // stage to make.
    if (phases.back().empty()) return;
  }
  // Each spatial dim has several phases. One stage is made for each combination
  // of phases, the last dim's phase changing fastest.
  std::vector<size_t> position(dims.spatial, 0);
  while (true) {
    std::vector<Phase> chosen;
    for (size_t i = 0; i < dims.spatial; ++i)
      chosen.push_back(phases[i][position[i]]);
    DefineTransposedStage(context.AddStage(), dims, chosen);
    size_t dim = dims.spatial;
    while (dim > 0 && ++position[dim - 1] == phases[dim - 1].size())
      position[--dim] = 0;
    if (dim == 0) return;
  }
}

constexpr AttributeSpec kContractAttributes[] = {
    {"spec", AttributeKind::kString, true,
     "Labels per dim, as \"bik,bkj->bij\"."},
};
constexpr AttributeSpec kConvAttributes[] = {
    {"strides", AttributeKind::kIntegers, true,
     "Between windows, per spatial dim."},
    {"dilations", AttributeKind::kIntegers, true,
     "Between taps of a window, per spatial dim."},
    {"low", AttributeKind::kShape, true, "Padding before, per spatial dim."},
    {"high", AttributeKind::kShape, true, "Padding after, per spatial dim."},
    {"groups", AttributeKind::kInteger, true,
     "Channels are split into so many groups."},
};
constexpr AttributeSpec kConvTransposeAttributes[] = {
    {"strides", AttributeKind::kIntegers, true,
     "Between inputs in the result, per spatial dim."},
    {"dilations", AttributeKind::kIntegers, true,
     "Between taps of a window, per spatial dim."},
    {"low", AttributeKind::kShape, true, "Cropped before, per spatial dim."},
    {"high", AttributeKind::kShape, true, "Cropped after, per spatial dim."},
    {"output_padding", AttributeKind::kIntegers, true,
     "Added after, per spatial dim."},
    {"groups", AttributeKind::kInteger, true,
     "Channels are split into so many groups."},
};

const OperatorRecord kRecords[] = {
    {.name = "contract",
     .doc = "Sum of products over the labels that the result does not have; "
            "Narrow floats give f32.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kContractAttributes,
     .trait = OperatorTrait::kContraction,
     .result_memory = ResultMemory::kGiven,
     .infer = InferContract,
     .definition = {.stages = DefineContract}},
    {.name = "conv",
     .doc = "Convolution of x[N, spatial, C] with w[window, C / groups, O]; "
            "Narrow floats give f32.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kConvAttributes,
     .trait = OperatorTrait::kContraction,
     .result_memory = ResultMemory::kGiven,
     .reading = Reading::kConvolved,
     .infer = InferConv,
     .definition = {.stages = DefineConv}},
    {.name = "conv_transpose",
     .doc = "The gradient of conv by its input: x[N, spatial, C] with "
            "w[window, C, O / groups]; f16 "
            "and bf16 give f32.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .attributes = kConvTransposeAttributes,
     .trait = OperatorTrait::kContraction,
     .result_memory = ResultMemory::kGiven,
     .infer = InferConvTranspose,
     .definition = {.stages = DefineConvTranspose}},
};

}  // namespace

std::span<const OperatorRecord> ContractionOperators() { return kRecords; }

}  // namespace ember::graph

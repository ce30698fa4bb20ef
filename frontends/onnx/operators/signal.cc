// Fourier transforms, as products with matrices of cosines and sines; weights
// of the mel scale.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dynamic_axes.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/fourier.h"

namespace ember::onnx {
namespace {

// Returns part 0 (real) or 1 (imaginary) of a tensor whose last dim is 1 or 2.
// The imaginary part is absent if the dim is known to be 1, and zero if an open
// dim is 1 at run time.
Tensor Part(Tensor x, int part) {
  if (part == 1 && x.dim(-1) == Dim(1)) return Tensor();
  if (part == 1) x = ops::WithLength(x, x.rank() - 1, Dim(2));
  return Squeeze(SliceAxis(x, x.rank() - 1, Dim(part), Dim(1)), {x.rank() - 1});
}

struct Transform {
  int axis = 0;
  Dim length;
  bool inverse = false;
  bool onesided = false;
};

Tensor Dft(NodeContext& c, const Transform& t, Tensor x) {
  const DType type = x.dtype();
  const Tensor wide = Cast(x, ComputeType(type));
  const ops::ComplexParts parts = {Part(wide, 0), Part(wide, 1)};
  // The inverse transform divides by the length.
  const auto scaled = [&](Tensor y) {
    return t.inverse ? y / Cast(DimScalar(c.builder(), t.length), y.dtype())
                     : y;
  };
  if (t.inverse && t.onesided) {
    const Tensor y = scaled(ops::RealFourierInverse(parts, t.axis, t.length));
    return Cast(Unsqueeze(y, {y.rank()}), type);
  }
  const Dim bins =
      t.onesided ? FloorDivide(t.length, Dim(2)) + Dim(1) : t.length;
  const ops::ComplexParts y =
      ops::FourierTransform(parts, t.axis, t.length, bins, t.inverse);
  const int rank = y.real.rank();
  return Cast(Concat({Unsqueeze(scaled(y.real), {rank}),
                      Unsqueeze(scaled(y.imaginary), {rank})},
                     rank),
              type);
}

// Returns the number of points of a transform whose operand (a signal, or a
// spectrum for the inverse) has `extent` elements, if dft_length is not given.
Dim NaturalLength(const Transform& t, const Dim& extent) {
  return t.inverse && t.onesided ? (extent - Dim(1)) * Dim(2) : extent;
}

// Returns the operand dft_length; nullopt if it is absent or after an error.
std::optional<Dim> ReadLength(NodeContext& c) {
  if (!c.Input(1)) return std::nullopt;
  const auto length = c.Sizes(1, "dft_length");
  if (!length) return std::nullopt;
  if (length->size() == 1) return length->front();
  c.FailInvalid("dft_length (input 1): expected one element");
  return std::nullopt;
}

// Transforms along an axis that is known only at run time. x is permuted so
// that it becomes the axis before the last one.
void DftAlongData(NodeContext& c, Transform t,
                  const std::optional<Dim>& given) {
  const Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  Tensor axis = Cast(c.Input(2), DType::kI64);
  if (!c.CheckRank(2, 0, 1)) return;
  axis = Reshape(axis, {Dim(1)});
  axis = Select(Less(axis, 0), axis + static_cast<double>(x.rank()), axis);
  const Tensor inside = And(LessEqual(0, axis), Less(axis, last));
  c.builder().Require(Reshape(inside, {}).value(),
                      "axis (input 2): expected one before the last");
  if (!c.ok()) return;
  const AxisOrder order = AxesLast(axis, last);
  const Tensor parts = c.Integers64({last});
  const Tensor moved = PermuteByData(c, x, Concat({order.source, parts}, 0));
  t.axis = last - 1;
  t.length = given.value_or(NaturalLength(t, moved.dim(t.axis)));
  const Tensor y = Dft(c, t, moved);
  std::optional<Shape> shape;
  if (y.dim(t.axis) == moved.dim(t.axis)) {
    shape = x.shape();
    shape->back() = y.dim(last);
  }
  c.SetOutput(0, PermuteByData(c, y, Concat({order.place, parts}, 0), shape));
}

void ImportDft(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  Tensor x = c.Input(0);
  Transform t;
  t.inverse = c.Integer("inverse", 0) != 0;
  t.onesided = c.Integer("onesided", 0) != 0;
  const std::optional<Dim> given = ReadLength(c);
  if (!c.ok()) return;
  if (c.Input(2) && !c.IsKnown(2)) return DftAlongData(c, t, given);
  int64_t axis = c.opset() < 20 ? c.Integer("axis", 1) : -2;
  if (c.Input(2)) {
    const auto known = c.ConstantIntegers(2, "axis");
    if (!known) return;
    if (known->size() != 1)
      return c.FailInvalid("axis (input 2): expected one element");
    axis = known->front();
  }
  t.axis = c.Axis(axis, x.rank());
  if (!c.ok()) return;
  if (t.axis == x.rank() - 1)
    return c.FailInvalid("axis: expected one before the last");
  t.length = given.value_or(NaturalLength(t, x.dim(t.axis)));
  c.SetOutput(0, Dft(c, t, x));
}

// Returns false, with an error, unless a Rfft or Irfft of com.microsoft has the
// attributes of a plain transform along the last axis.
bool CheckRealTransform(NodeContext& c) {
  if (c.Integer("normalized", 0) == 0 && c.Integer("onesided", 1) == 1 &&
      c.Integer("signal_ndim", 1) == 1) {
    return true;
  }
  c.FailUnsupported(
      "expected attributes 'normalized' = 0, 'onesided' = 1, 'signal_ndim' = "
      "1");
  return false;
}

void ImportRfft(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !CheckRealTransform(c)) return;
  Tensor x = c.Input(0);
  Transform t{.axis = x.rank() - 1, .length = x.dim(-1), .onesided = true};
  c.SetOutput(0, Dft(c, t, Unsqueeze(x, {x.rank()})));
}

void ImportIrfft(NodeContext& c) {
  if (!c.CheckRank(0, 2) || !CheckRealTransform(c)) return;
  Tensor x = c.Input(0);
  Transform t{.axis = x.rank() - 2, .inverse = true, .onesided = true};
  t.length = (x.dim(-2) - Dim(1)) * Dim(2);
  Tensor y = Dft(c, t, x);
  c.SetOutput(0, Squeeze(y, {y.rank() - 1}));
}

// Cuts a signal [batch, samples, parts] into overlapping frames of `length`
// samples, `step` samples apart: [batch, frames, length, parts].
Tensor Frames(NodeContext& c, Tensor signal, const Dim& step,
              const Dim& length) {
  const Dim count = FloorDivide(signal.dim(1) - length, step) + Dim(1);
  Tensor start = AlongAxis(IotaVector(c.builder(), count, DType::kI64), 0, 2) *
                 DimScalar(c.builder(), step);
  Tensor offset = AlongAxis(IotaVector(c.builder(), length, DType::kI64), 1, 2);
  return Gather(signal, start + offset, 1);
}

void ImportStft(NodeContext& c) {
  if (!c.CheckRank(0, 2, 3)) return;
  Tensor signal = c.Input(0);
  if (signal.rank() == 2) signal = Unsqueeze(signal, {2});
  const std::optional<Shape> step = c.Sizes(1, "frame_step");
  if (!step) return;
  Tensor window = c.Input(2);
  Dim length = window ? window.dim(0) : Dim(0);
  if (c.Input(3)) {
    const std::optional<Shape> given = c.Sizes(3, "frame_length");
    if (!given) return;
    if (given->size() != 1)
      return c.FailInvalid("frame_length (input 3): expected one element");
    length = given->front();
  }
  if (step->size() != 1 || RangeOf(step->front()).high < 1 ||
      RangeOf(length).high < 1) {
    return c.FailInvalid(
        "expected a positive frame_step, and frame_length or a window");
  }
  for (const Dim& size : {step->front(), length}) {
    if (RangeOf(size).low >= 1) continue;
    c.builder().Require(LessEqual(1, DimScalar(c.builder(), size)).value(),
                        "expected a positive frame_step and frame_length");
  }
  Tensor frames = Frames(c, signal, step->front(), length);
  if (window) frames = frames * AlongAxis(window, 2, 4);
  Transform t;
  t.axis = 2;
  t.length = length;
  t.onesided = c.Integer("onesided", 1) != 0;
  c.SetOutput(0, Dft(c, t, frames));
}

// Returns an operand of one element of MelWeightMatrix as an f64 scalar.
Tensor WideScalar(NodeContext& c, int input) {
  return Reshape(Cast(c.Input(input), DType::kF64), {});
}

// Imports MelWeightMatrix: the weights are triangles over the bins of the
// spectrum, evenly spaced on the mel scale.
void ImportMelWeightMatrix(NodeContext& c) {
  const std::optional<Shape> bands = c.Sizes(0, "num_mel_bins");
  const std::optional<Shape> length = c.Sizes(1, "dft_length");
  if (!bands || !length) return;
  if (bands->size() != 1 || length->size() != 1)
    return c.FailInvalid("num_mel_bins, dft_length: expected scalars");
  auto mel = [](Tensor hertz) {
    return Log(hertz / 700.0 + 1.0) * (2595 / std::log(10.0));
  };
  Tensor low = mel(WideScalar(c, 3));
  Tensor high = mel(WideScalar(c, 4));
  Tensor edges = DimScalar(c.builder(), bands->front() + Dim(2));
  Tensor step = (high - low) / Cast(edges, DType::kF64);
  // Returns the spectrum bin that contains the edge number `first`, `first` +
  // 1, … of the triangles.
  auto edge_bins = [&](int64_t first) {
    Tensor number = IotaVector(c.builder(), bands->front(), DType::kF64) +
                    static_cast<double>(first);
    Tensor hertz =
        (Exp((number * step + low) * (std::log(10.0) / 2595)) - 1.0) * 700.0;
    return AlongAxis(Floor((WideScalar(c, 1) + 1.0) * hertz / WideScalar(c, 2)),
                     1, 2);
  };
  Tensor start = edge_bins(0);
  Tensor center = edge_bins(1);
  Tensor end = edge_bins(2);
  Tensor bin = AlongAxis(
      IotaVector(c.builder(), FloorDivide(length->front(), Dim(2)) + Dim(1),
                 DType::kF64),
      0, 2);
  // If the left side of a triangle has no width, dividing by the width would
  // give NaN. Its weight is then 1 at the middle bin.
  Tensor flat = Equal(start, center);
  Tensor rising =
      Select(flat, start.Like(1),
             (bin - start) / Select(flat, start.Like(1), center - start));
  Tensor falling = (end - bin) / Maximum(end - center, 1);
  Tensor weight = Select(
      And(LessEqual(start, bin), LessEqual(bin, center)), rising,
      Select(And(Less(center, bin), Less(bin, end)), falling, falling.Like(0)));
  c.SetOutput(
      0,
      Cast(weight, c.TypeAttribute("output_datatype").value_or(DType::kF32)));
}

constexpr OperatorRow kRows[] = {
    {"Irfft", 1, 1, 1, ImportIrfft, "com.microsoft"},
    {"Rfft", 1, 1, 1, ImportRfft, "com.microsoft"},
    {"DFT", 17, 1, 3, ImportDft},
    {"MelWeightMatrix", 17, 5, 5, ImportMelWeightMatrix},
    {"STFT", 17, 2, 4, ImportStft},
};

}  // namespace

std::span<const OperatorRow> SignalOperators() { return kRows; }

}  // namespace ember::onnx

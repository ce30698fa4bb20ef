// Imports operators on images and boxes, fake quantization, and operators on
// signals.
#include "frontends/tf_common/images.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/fourier.h"
#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

// Returns the indices of the boxes that non-maximum suppression keeps.
// Operands: (boxes, scores, most, overlap, least).
Tensor Kept(OperatorContext& c, std::optional<double> overlap,
            std::optional<double> least) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 1, 1)) return Tensor();
  const auto most = c.Sizes(2, "max_output_size");
  if (!most || most->size() != 1) return Tensor();
  const Tensor shared = overlap ? c.Scalar(*overlap, DType::kF32) : c.Input(3);
  const Tensor lowest = least ? c.Scalar(*least, DType::kF32) : c.Input(4);
  const Tensor kept = tf_common::KeptBoxes(c.Input(0), c.Input(1), shared,
                                           lowest, most->front(), 0);
  return c.ok() ? kept : Tensor();
}

constexpr double kNoLeast = -3.4e38;

void SetFakeQuantized(OperatorContext& c, const std::vector<double>& low,
                      const std::vector<double>& high) {
  const Tensor x = c.Input(0);
  const int64_t bits = c.Integer("num_bits", 8);
  const bool narrow = c.Flag("narrow_range", false);
  std::vector<float> lows, highs, steps;
  for (size_t i = 0; i < low.size(); ++i) {
    const auto range =
        tf_common::NudgedRange(c, static_cast<float>(low[i]),
                               static_cast<float>(high[i]), bits, narrow);
    if (!range) return;
    lows.push_back(range->low);
    highs.push_back(range->high);
    steps.push_back(range->step);
  }
  const auto constant = [&](const std::vector<float>& values) {
    return values.size() == 1 ? x.Like(static_cast<double>(values[0]))
                              : c.Vector(DType::kF32, values);
  };
  c.SetOutput(0, tf_common::FakeQuantized(x, constant(lows), constant(highs),
                                          constant(steps)));
}

void SetComplex(OperatorContext& c, Tensor real, Tensor imaginary) {
  Value value(real);
  value.imaginary = imaginary;
  c.SetValue(0, std::move(value));
}

void SetTransformed(OperatorContext& c, bool inverse) {
  const Value& x = c.InputValue(0);
  if (!x.imaginary)
    return c.FailInvalid("input 0: expected complex numbers, found none");
  if (x.tensor.rank() < 1)
    return c.FailInvalid("input 0: expected a signal, found a scalar");
  const Dim n = x.tensor.dim(-1);
  ops::ComplexParts y = ops::FourierTransform(
      {x.tensor, x.imaginary}, x.tensor.rank() - 1, n, n, inverse);
  if (inverse) {
    const Tensor length = Cast(DimScalar(c.builder(), n), y.real.dtype());
    y.real = y.real / length;
    y.imaginary = y.imaginary / length;
  }
  SetComplex(c, y.real, y.imaginary);
}

std::optional<Dim> Length(OperatorContext& c) {
  const auto given = c.Contents(1, "fft_length");
  if (!given) return std::nullopt;
  if (given->size() == 1) return given->front();
  c.FailInvalid("fft_length: expected one value, found " +
                std::to_string(given->size()));
  return std::nullopt;
}

}  // namespace

void ImportResizeBilinear(OperatorContext& c) {
  if (c.ok() && c.Input(0))
    tf_common::ImportResizeBilinear(c, c.Flag("align_corners", false),
                                    c.Flag("half_pixel_centers", false));
  // TensorFlow's ResizeBilinear returns f32 for images of any type.
  if (c.ok() && c.outputs()[0].tensor)
    c.SetOutput(0, Cast(c.outputs()[0].tensor, DType::kF32));
}
void ImportResizeNearest(OperatorContext& c) {
  tf_common::ImportResizeNearest(c, c.Flag("align_corners", false),
                                 c.Flag("half_pixel_centers", false));
}
void ImportResizeBicubic(OperatorContext& c) {
  ops::ResizeSpec spec;
  spec.mode = "cubic";
  const bool centers = c.Flag("half_pixel_centers", false);
  spec.coordinates = c.Flag("align_corners", false) ? "align_corners"
                     : centers                      ? "half_pixel"
                                                    : "asymmetric";
  // Without half_pixel_centers TensorFlow's bicubic kernel uses -0.75 instead
  // of -0.5 as the parameter of the cubic filter, and keeps the weights of
  // pixels outside of the image.
  spec.cubic_a = centers ? -0.5 : -0.75;
  spec.exclude_outside = centers;
  tf_common::ImportResize(c, spec);
  if (c.ok() && c.outputs()[0].tensor)
    c.SetOutput(0, Cast(c.outputs()[0].tensor, DType::kF32));
}

void ImportNonMaxSuppression(OperatorContext& c) {
  const Tensor kept = Kept(c, c.Number("iou_threshold", 0.5), kNoLeast);
  if (kept) c.SetOutput(0, Cast(kept, DType::kI32));
}
void ImportNonMaxSuppressionV2(OperatorContext& c) {
  const Tensor kept = Kept(c, std::nullopt, kNoLeast);
  if (kept) c.SetOutput(0, Cast(kept, DType::kI32));
}
void ImportNonMaxSuppressionV3(OperatorContext& c) {
  const Tensor kept = Kept(c, std::nullopt, std::nullopt);
  if (kept) c.SetOutput(0, Cast(kept, DType::kI32));
}
void ImportNonMaxSuppressionV4(OperatorContext& c) {
  Tensor kept = Kept(c, std::nullopt, std::nullopt);
  const auto most = c.Sizes(2, "max_output_size");
  if (!kept || !most) return;
  c.SetOutput(1, Cast(DimScalar(c.builder(), kept.dim(0)), DType::kI32));
  if (c.Flag("pad_to_max_output_size", false))
    kept = tf_common::FilledUp(kept, most->front());
  c.SetOutput(0, Cast(kept, DType::kI32));
}
void ImportNonMaxSuppressionV5(OperatorContext& c) {
  const auto sigma = c.ConstantNumbers(5, "soft_nms_sigma");
  if (!sigma) return;
  if (sigma->size() != 1 || sigma->front() != 0)
    return c.FailUnsupported("soft_nms_sigma: expected 0");
  Tensor kept = Kept(c, std::nullopt, std::nullopt);
  const auto most = c.Sizes(2, "max_output_size");
  if (!kept || !most) return;
  Tensor scores = Gather(c.Input(1), kept, 0);
  c.SetOutput(2, Cast(DimScalar(c.builder(), kept.dim(0)), DType::kI32));
  if (c.Flag("pad_to_max_output_size", false)) {
    kept = tf_common::FilledUp(kept, most->front());
    scores = tf_common::FilledUp(scores, most->front());
  }
  c.SetOutput(0, Cast(kept, DType::kI32));
  c.SetOutput(1, scores);
}

void ImportAdjustContrast(OperatorContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const Tensor x = c.Input(0);
  const Tensor mean = Mean(x, {x.rank() - 3, x.rank() - 2}, true);
  c.SetOutput(0, (x - mean) * Reshape(c.Input(1), {}) + mean);
}
void ImportRgbToHsv(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  const auto channel = [&](int i) {
    return SliceAxis(x, last, Dim(i), Dim(1));
  };
  const Tensor r = channel(0), g = channel(1), b = channel(2);
  const Tensor value = Maximum(Maximum(r, g), b);
  const Tensor range = value - Minimum(Minimum(r, g), b);
  const Tensor saturation = Select(
      Less(0, value), range / Select(Less(0, value), value, value.Like(1)),
      value.Like(0));
  const Tensor norm =
      1.0 / (Select(Less(0, range), range, range.Like(1)) * 6.0);
  Tensor hue = Select(Equal(r, value), norm * (g - b),
                      Select(Equal(g, value), norm * (b - r) + 2.0 / 6.0,
                             norm * (r - g) + 4.0 / 6.0));
  hue = Select(Less(0, range), hue, hue.Like(0));
  hue = Select(Less(hue, 0), hue + 1.0, hue);
  c.SetOutput(0, Concat({hue, saturation, value}, last));
}
void ImportHsvToRgb(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  const auto channel = [&](int i) {
    return SliceAxis(x, last, Dim(i), Dim(1));
  };
  const Tensor h = channel(0) * 6.0, s = channel(1), v = channel(2);
  const auto clamped = [](Tensor t) { return Minimum(Maximum(t, 0), 1); };
  const Tensor r = clamped(Absolute(h - 3.0) - 1.0);
  const Tensor g = clamped(2.0 - Absolute(h - 2.0));
  const Tensor b = clamped(2.0 - Absolute(h - 4.0));
  const auto mixed = [&](Tensor t) { return ((1.0 - s) + s * t) * v; };
  c.SetOutput(0, Concat({mixed(r), mixed(g), mixed(b)}, last));
}

void ImportFakeQuantArgs(OperatorContext& c) {
  SetFakeQuantized(c, {c.Number("min", -6)}, {c.Number("max", 6)});
}
void ImportFakeQuantVars(OperatorContext& c) {
  const auto low = c.ConstantNumbers(1, "min"),
             high = c.ConstantNumbers(2, "max");
  if (!low || !high) return;
  if (low->empty() || low->size() != high->size())
    return c.FailInvalid("expected as many minima as maxima");
  SetFakeQuantized(c, *low, *high);
}
// Imports QuantizeAndDequantize for a given range: rounds x to quantized
// numbers, and returns their real values. Operands: (x, low, high), and in some
// versions the number of bits.
void ImportQuantizeAndDequantize(OperatorContext& c) {
  const Tensor x = c.Input(0);
  if (!c.Flag("range_given", false))
    return c.FailUnsupported("attribute 'range_given': expected true");
  if (c.Integer("axis", -1) != -1)
    return c.FailUnsupported("attribute 'axis': expected -1");
  const auto low = c.ConstantNumbers(1, "input_min"),
             high = c.ConstantNumbers(2, "input_max");
  int64_t bits = c.Integer("num_bits", 8);
  if (c.input_count() > 3) {
    const auto given = c.ConstantIntegers(3, "num_bits");
    if (!given || given->size() != 1) return;
    bits = given->front();
  }
  if (!low || !high || low->size() != 1 || high->size() != 1) return;
  if (bits < 2 || bits > 30 || !(low->front() <= high->front()))
    return c.FailInvalid("expected 2 to 30 bits and a range");
  const bool is_signed = c.Flag("signed_input", true);
  const bool narrow = c.Flag("narrow_range", false);
  const double lowest =
      is_signed ? -std::ldexp(1, static_cast<int>(bits) - 1) + (narrow ? 1 : 0)
                : 0;
  const double highest =
      std::ldexp(1, static_cast<int>(bits) - (is_signed ? 1 : 0)) - 1;
  // The scale (steps per unit) is the largest one for which both ends of the
  // range are within the integers' range.
  const double from_low =
      low->front() < 0 && lowest < 0 ? lowest / low->front() : HUGE_VAL;
  const double from_high =
      high->front() > 0 ? highest / high->front() : HUGE_VAL;
  const double scale = std::min(from_low, from_high);
  if (!(scale < HUGE_VAL)) return c.SetOutput(0, x);
  const double least = std::max(low->front(), lowest / scale);
  const double most = std::min(high->front(), highest / scale);
  const Tensor clamped = Minimum(Maximum(x, least), most) * scale;
  const bool to_even = c.Text("round_mode", "HALF_TO_EVEN") == "HALF_TO_EVEN";
  c.SetOutput(0,
              (to_even ? Round(clamped) : Floor(clamped + 0.5)) * (1 / scale));
}
// Imports Dequantize. Operands: (stored integers, low, high).
void ImportDequantize(OperatorContext& c) {
  const auto low = c.ConstantNumbers(1, "min_range"),
             high = c.ConstantNumbers(2, "max_range");
  if (!low || !high || low->size() != 1 || high->size() != 1) return;
  const Tensor x = c.Input(0);
  const int bits = 8 * DTypeByteSize(x.dtype());
  const std::string mode = c.Text("mode", "MIN_COMBINED");
  const double lowest = tf_common::ExtremeOf(x.dtype(), false);
  const double highest = tf_common::ExtremeOf(x.dtype(), true);
  const double span = high->front() - low->front();
  const Tensor wide = Cast(x, DType::kF32);
  if (mode == "SCALED") {
    const bool narrow = c.Flag("narrow_range", false);
    const double scale =
        lowest == 0 ? high->front() / highest
                    : std::max(low->front() / (lowest + (narrow ? 1 : 0)),
                               high->front() / highest);
    return c.SetOutput(0, wide * scale);
  }
  if (mode == "MIN_FIRST" || mode == "MIN_COMBINED") {
    const double scale = span / (std::ldexp(1, bits) - 1);
    const double half =
        mode == "MIN_COMBINED" && lowest < 0 ? (highest - lowest + 1) / 2 : 0;
    const double first = mode == "MIN_FIRST" ? lowest : 0;
    return c.SetOutput(0, (wide + half - first) * scale + low->front());
  }
  c.FailUnsupported("attribute 'mode': found '" + mode + "'");
}

void ImportFft(OperatorContext& c) { SetTransformed(c, false); }
void ImportIfft(OperatorContext& c) { SetTransformed(c, true); }
// Imports RFFT: half of the spectrum of a real signal. Operands: (x, length).
void ImportRfft(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto length = Length(c);
  if (!length) return;
  const Tensor x = c.Input(0);
  const ops::ComplexParts y =
      ops::FourierTransform({x, {}}, x.rank() - 1, *length,
                            FloorDivide(*length, Dim(2)) + Dim(1), false);
  SetComplex(c, y.real, y.imaginary);
}
// Imports IRFFT: the real signal whose half spectrum is given. Operands:
// (spectrum, length). Each bin counts twice, except for the first one and the
// middle one of an even length.
void ImportIrfft(OperatorContext& c) {
  const Value& x = c.InputValue(0);
  if (!x.imaginary)
    return c.FailInvalid("input 0: expected complex numbers, found none");
  const auto length = Length(c);
  if (!length) return;
  const int last = x.tensor.rank() - 1;
  const Dim bins = FloorDivide(*length, Dim(2)) + Dim(1);
  const Tensor y =
      ops::RealFourierInverse({ops::WithLength(x.tensor, last, bins),
                               ops::WithLength(x.imaginary, last, bins)},
                              last, *length);
  c.SetOutput(0, y / Cast(DimScalar(c.builder(), *length), y.dtype()));
}

// Imports ExtractImagePatches, which returns the elements of each window of the
// images as the channels of one pixel. Operand: (images).
void ImportExtractImagePatches(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const auto sizes = c.Integers("ksizes", {}),
             steps = c.Integers("strides", {}),
             rates = c.Integers("rates", {1, 1, 1, 1});
  if (sizes.size() != 4 || steps.size() != 4 || rates.size() != 4)
    return c.FailInvalid("expected ksizes, strides and rates of 4 values");
  for (int i = 1; i < 3; ++i) {
    if (!c.CheckPositive("ksizes", sizes[i]) ||
        !c.CheckPositive("strides", steps[i]) ||
        !c.CheckPositive("rates", rates[i]))
      return;
  }
  if (sizes[1] * sizes[2] > 1024)
    return c.FailUnsupported("expected a window of at most 1024 elements");
  ops::Window window = ops::WindowOf({sizes[1], sizes[2]});
  window.strides = {steps[1], steps[2]};
  window.dilations = {rates[1], rates[2]};
  Tensor x = c.Input(0);
  if (c.Text("padding", "VALID") == "SAME") {
    ops::PadSame({x.dim(1), x.dim(2)}, /*upper=*/true, window);
    x = Pad(x, {Dim(0), window.low[0], window.low[1], Dim(0)},
            {Dim(0), window.high[0], window.high[1], Dim(0)}, "constant",
            x.Like(0));
  }
  Shape extents;
  for (int i = 0; i < 2; ++i) {
    extents.push_back(FloorDivide(x.dim(i + 1) - Dim(window.Reach(i)),
                                  Dim(window.strides[i])) +
                      Dim(1));
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < sizes[1] && c.ok(); ++i) {
    for (int64_t j = 0; j < sizes[2] && c.ok(); ++j) {
      parts.push_back(
          Slice(x, {Dim(0), Dim(i * rates[1]), Dim(j * rates[2]), Dim(0)},
                {1, steps[1], steps[2], 1},
                {x.dim(0), extents[0], extents[1], x.dim(3)}));
    }
  }
  if (c.ok()) c.SetOutput(0, Concat(parts, 3));
}

}  // namespace ember::tensorflow

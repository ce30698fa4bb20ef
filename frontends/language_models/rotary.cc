#include "frontends/language_models/rotary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "frontends/ops/compositions.h"

namespace ember::language_models {
namespace {

using ops::Reshape;
using ops::SliceAxis;

// Returns the index of the pair of elements that makes `rotations` rotations
// within the original context.
double PairOfRotations(const RotaryOptions& rotary, double rotations) {
  return static_cast<double>(rotary.dims) *
         std::log(static_cast<double>(rotary.original_context) /
                  (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(rotary.base));
}

// Returns the share of linear scaling in a pair's frequency, 0 to 1. YaRN mixes
// frequency / factor (share 1) with the unscaled frequency (share 0).
double YarnShare(const RotaryOptions& rotary, int64_t pair) {
  const double last = static_cast<double>(rotary.dims - 1);
  const double low =
      std::max(0.0, std::floor(PairOfRotations(rotary, rotary.fast)));
  const double high =
      std::min(last, std::ceil(PairOfRotations(rotary, rotary.slow)));
  const double ramp =
      (static_cast<double>(pair) - low) / std::max(0.001, high - low);
  return std::clamp(ramp, 0.0, 1.0);
}

// Returns the factor by which Llama 3.1 multiplies a frequency.
double Llama3Share(const RotaryOptions& rotary, double frequency) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(rotary.original_context);
  const double longest = original / rotary.slow;
  const double shortest = original / rotary.fast;
  if (wavelength < shortest) return 1;
  if (wavelength > longest) return 1 / rotary.factor;
  const double smooth =
      (original / wavelength - rotary.slow) / (rotary.fast - rotary.slow);
  return (1 - smooth) / rotary.factor + smooth;
}

double Stretched(const RotaryOptions& rotary, int64_t pair, double frequency) {
  switch (rotary.scaling) {
    case RotaryScaling::kNone:
      return frequency;
    case RotaryScaling::kLinear:
      return frequency / rotary.factor;
    case RotaryScaling::kYarn: {
      const double share = YarnShare(rotary, pair);
      return frequency / rotary.factor * share + frequency * (1 - share);
    }
    case RotaryScaling::kLlama3:
      return frequency * Llama3Share(rotary, frequency);
  }
  return frequency;
}

Tensor FloatVector(graph::GraphBuilder& builder, std::vector<float> values) {
  auto owner = std::make_shared<const std::vector<float>>(std::move(values));
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(owner->data()),
      owner->size() * sizeof(float));
  const auto count = static_cast<int64_t>(owner->size());
  return {&builder, builder.Constant(DType::kF32, {count}, {owner, bytes})};
}

// Returns the factors by which the model's tensors divide the frequencies;
// absent if it has none.
Tensor Factors(const LayerContext& c, const RotaryOptions& rotary) {
  const std::vector<int64_t> half{rotary.dims / 2};
  if (const Weight factors = c.tensors.Optional("rope_freqs.weight", half))
    return factors.Values();
  const Weight few = c.tensors.Optional("rope_factors_short.weight", half);
  const Weight many = c.tensors.Optional("rope_factors_long.weight", half);
  if (!few || !many) return few ? few.Values() : Tensor();
  Tensor is_long = ops::Less(
      Tensor(&c.builder(),
             c.builder().Scalar(static_cast<double>(rotary.original_context),
                                DType::kI64)),
      ops::DimScalar(c.builder(), c.context));
  return ops::Select(is_long, many.Values(), few.Values());
}

}  // namespace

RotaryFrequencies FrequenciesOf(const RotaryOptions& rotary) {
  RotaryFrequencies result{.magnitude = rotary.attention_factor};
  for (int64_t pair = 0; pair < rotary.dims / 2; ++pair) {
    const double exponent =
        -2 * static_cast<double>(pair) / static_cast<double>(rotary.dims);
    result.frequencies.push_back(static_cast<float>(
        Stretched(rotary, pair, std::pow(rotary.base, exponent))));
  }
  if (rotary.scaling == RotaryScaling::kYarn)
    result.magnitude *= 1 + 0.1 * std::log(rotary.factor);
  return result;
}

RotaryTables MakeRotaryTables(const LayerContext& c,
                              const RotaryOptions& rotary) {
  RotaryFrequencies f = FrequenciesOf(rotary);
  Tensor frequencies = FloatVector(c.builder(), std::move(f.frequencies));
  if (Tensor factors = Factors(c, rotary)) frequencies = frequencies / factors;
  Tensor angle =
      ops::AlongAxis(ops::Cast(c.TokenPositions(), DType::kF32), 0, 3) *
      frequencies;
  RotaryTables tables{ops::Cos(angle), ops::Sin(angle)};
  if (f.magnitude != 1) {
    tables.cosine = tables.cosine * f.magnitude;
    tables.sine = tables.sine * f.magnitude;
  }
  return tables;
}

Tensor Rotate(Tensor x, const RotaryTables& tables, Positions positions) {
  if (x.rank() != 4) return x;
  const Dim half = tables.cosine.dim(-1);
  const Dim rotated = half * Dim(2);
  // Splits the rotated elements of a head into pairs: [half, 2] if neighbours
  // are a pair, else [2, half].
  const bool pairs = positions == Positions::kRotaryPairs;
  const int axis = pairs ? 4 : 3;
  Shape split{x.dim(0), x.dim(1), x.dim(2), half, half};
  split[static_cast<size_t>(axis)] = Dim(2);
  Tensor parts = Reshape(SliceAxis(x, 3, Dim(0), rotated), split);
  Tensor first = SliceAxis(parts, axis, Dim(0), Dim(1));
  Tensor second = SliceAxis(parts, axis, Dim(1), Dim(1));
  Tensor cosine = ops::Unsqueeze(tables.cosine, {axis - 1});
  Tensor sine = ops::Unsqueeze(tables.sine, {axis - 1});
  Tensor part = ops::AlongAxis(
      ops::IotaVector(x.builder(), Dim(2), DType::kI64), axis, 5);
  Tensor y = ops::Select(ops::Equal(part, 0), first * cosine - second * sine,
                         first * sine + second * cosine);
  y = Reshape(y, {x.dim(0), x.dim(1), x.dim(2), rotated});
  if (rotated == x.dim(3)) return y;
  return ops::Concat({y, SliceAxis(x, 3, rotated, x.dim(3) - rotated)}, 3);
}

}  // namespace ember::language_models

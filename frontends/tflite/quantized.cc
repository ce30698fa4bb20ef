#include "frontends/tflite/quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "frontends/ops/quantization.h"

namespace ember::tflite {
namespace {

// Returns a scale or zero point per slice of `axis`, in a shape that
// broadcasts.
template <typename T>
Tensor AlongAxisOf(Tensor x, const Quantization& q, DType dtype,
                   const std::vector<T>& values) {
  graph::GraphBuilder& builder = x.builder();
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const Tensor vector(
      &builder, builder.Constant(dtype, {static_cast<int64_t>(values.size())},
                                 graph::ConstantData::Copy(
                                     {bytes, values.size() * sizeof(T)})));
  return AlongAxis(vector, q.axis, x.rank());
}

float RoundHalfAwayNumber(float value) { return std::round(value); }

bool HasOneScale(const Quantization* q) {
  return q != nullptr && q->per_tensor() && q->scale() > 0;
}

int64_t Clamped(double value, DType dtype) {
  const auto low = static_cast<double>(LowestOf(dtype));
  const auto high = static_cast<double>(HighestOf(dtype));
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(std::clamp(value, low, high));
}

}  // namespace

bool IsStoredType(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16;
}

int64_t LowestOf(DType dtype) {
  if (dtype == DType::kI8) return std::numeric_limits<int8_t>::min();
  if (dtype == DType::kI16) return std::numeric_limits<int16_t>::min();
  if (dtype == DType::kU8) return 0;
  return std::numeric_limits<int32_t>::min();
}

int64_t HighestOf(DType dtype) {
  if (dtype == DType::kI8) return std::numeric_limits<int8_t>::max();
  if (dtype == DType::kI16) return std::numeric_limits<int16_t>::max();
  if (dtype == DType::kU8) return std::numeric_limits<uint8_t>::max();
  return std::numeric_limits<int32_t>::max();
}

Tensor DequantizeStored(Tensor x, const Quantization& q) {
  if (q.per_tensor()) {
    return Cast(CenteredStored(x, q), DType::kF32) *
           static_cast<double>(q.scale());
  }
  Tensor centered = Cast(x, DType::kI32);
  const bool any_zero = std::any_of(q.zero_points.begin(), q.zero_points.end(),
                                    [](int64_t zero) { return zero != 0; });
  if (any_zero) {
    const std::vector<int32_t> zeros(q.zero_points.begin(),
                                     q.zero_points.end());
    centered = centered - AlongAxisOf(x, q, DType::kI32, zeros);
  }
  return Cast(centered, DType::kF32) * AlongAxisOf(x, q, DType::kF32, q.scales);
}

Tensor QuantizeToStored(Tensor x, const Quantization& q, DType dtype) {
  const Tensor wide = Cast(x, DType::kF32);
  if (q.per_tensor()) {
    const Tensor rounded =
        ops::RoundHalfAway(wide / static_cast<double>(q.scale()));
    // Quantize need not clamp: the cast from float to integer saturates at the
    // type's range.
    return Cast(rounded + static_cast<double>(q.zero_point()), dtype);
  }
  const std::vector<float> zeros(q.zero_points.begin(), q.zero_points.end());
  const Tensor rounded =
      ops::RoundHalfAway(wide / AlongAxisOf(x, q, DType::kF32, q.scales));
  return Cast(rounded + AlongAxisOf(x, q, DType::kF32, zeros), dtype);
}

Tensor CenteredStored(Tensor x, const Quantization& q) {
  const Tensor zero = q.zero_point() == 0
                          ? Tensor()
                          : x.Like(static_cast<double>(q.zero_point()));
  return ops::Centered(x, zero);
}

StoredRange RangeOf(schema::ActivationFunctionType activation,
                    const Quantization& q, DType dtype) {
  const int64_t lowest = LowestOf(dtype), highest = HighestOf(dtype);
  const auto stored = [&](float value) {
    const double rounded = RoundHalfAwayNumber(value / q.scale()) +
                           static_cast<double>(q.zero_point());
    return Clamped(rounded, dtype);
  };
  switch (activation) {
    case schema::ActivationFunctionType::RELU:
      return {stored(0), highest};
    case schema::ActivationFunctionType::RELU_N1_TO_1:
      return {stored(-1), stored(1)};
    case schema::ActivationFunctionType::RELU6:
      return {stored(0), stored(6)};
    default:
      return {lowest, highest};
  }
}

void SetStored(OperatorContext& c, Tensor centered,
               schema::ActivationFunctionType activation) {
  const Quantization& q = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  const StoredRange range = RangeOf(activation, q, type);
  if (q.zero_point() != 0)
    centered = centered + static_cast<double>(q.zero_point());
  const Tensor bounded =
      Minimum(Maximum(centered, static_cast<double>(range.lowest)),
              static_cast<double>(range.highest));
  c.SetOutput(0, Cast(bounded, type));
}

void SetRequantized(OperatorContext& c, Tensor sums,
                    const std::vector<double>& scales,
                    schema::ActivationFunctionType activation,
                    ops::Halves halves) {
  std::vector<ops::FixedPoint> multipliers;
  for (const double scale : scales)
    multipliers.push_back(ops::FixedPointOf(scale));
  const bool wide = sums.dtype() == DType::kI64;
  SetStored(c,
            wide ? ops::MultiplyWideByFixedPoint(sums, multipliers)
                 : ops::MultiplyByFixedPoint(sums, multipliers, halves),
            activation);
}

double ScaleIn32Bits(float factors, const Quantization& result) {
  return static_cast<double>(factors / result.scale());
}

std::vector<double> SumScales(const Quantization& x, const Quantization& w,
                              const Quantization& y, bool in_32_bits) {
  std::vector<double> scales;
  for (const float scale : w.scales) {
    const double product = in_32_bits ? static_cast<double>(x.scale() * scale)
                                      : static_cast<double>(x.scale()) *
                                            static_cast<double>(scale);
    scales.push_back(product / static_cast<double>(y.scale()));
  }
  return scales;
}

Tensor Requantized(Tensor x, const Quantization& from, const Quantization& to,
                   DType dtype) {
  if (from == to && x.dtype() == dtype) return x;
  if (!from.per_tensor() || !to.per_tensor())
    return QuantizeToStored(DequantizeStored(x, from), to, dtype);
  const double scale =
      static_cast<double>(from.scale()) / static_cast<double>(to.scale());
  const Tensor y = ops::MultiplyByFixedPoint(CenteredStored(x, from),
                                             ops::FixedPointOf(scale)) +
                   static_cast<double>(to.zero_point());
  const Tensor bounded =
      Minimum(Maximum(y, static_cast<double>(LowestOf(dtype))),
              static_cast<double>(HighestOf(dtype)));
  return Cast(bounded, dtype);
}

Tensor ThroughTable(OperatorContext& c, Tensor x, DType result,
                    const std::function<int64_t(int64_t)>& function) {
  const int64_t lowest = LowestOf(x.dtype());
  std::vector<int8_t> table;
  for (int64_t value = lowest; value <= HighestOf(x.dtype()); ++value)
    table.push_back(static_cast<int8_t>(function(value)));
  const Tensor place = Cast(x, DType::kI64) - static_cast<double>(lowest);
  return Gather(c.Vector(result, table), place, 0);
}

void SetThroughTable(OperatorContext& c, float (*function)(float)) {
  if (!CheckPerTensor(c, 1)) return;
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  const float inverse_scale = 1 / out.scale();
  c.SetOutput(0, ThroughTable(c, c.Input(0), type, [&](int64_t stored) {
                const float real =
                    in.scale() * static_cast<float>(stored - in.zero_point());
                const float rounded =
                    RoundHalfAwayNumber(function(real) * inverse_scale);
                return Clamped(static_cast<double>(rounded) +
                                   static_cast<double>(out.zero_point()),
                               type);
              }));
}

bool IsPerTensor(const OperatorContext& c, int operands) {
  for (int i = 0; i < operands; ++i)
    if (!HasOneScale(c.InputQuantization(i))) return false;
  return HasOneScale(c.OutputQuantization(0)) && IsStoredType(c.OutputType(0));
}

void SetReal(OperatorContext& c, Tensor real) {
  const Quantization* q = c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  c.SetOutput(0, q != nullptr && IsStoredType(type) && real.is_float()
                     ? QuantizeToStored(real, *q, type)
                     : real);
}

bool CheckPerTensor(OperatorContext& c, int operands) {
  for (int i = 0; i < operands; ++i) {
    if (HasOneScale(c.InputQuantization(i))) continue;
    c.FailUnsupported("input " + std::to_string(i) +
                      ": expected one positive scale for all of it, found " +
                      (c.InputQuantization(i) == nullptr ? "none" : "another"));
    return false;
  }
  if (IsPerTensor(c, operands)) return c.ok();
  c.FailUnsupported(
      "output 0: expected an 8- or 16-bit integer type with one "
      "positive scale");
  return false;
}

}  // namespace ember::tflite

// Imports activation functions, and normalisations along one dim.
#include "frontends/tflite/activation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "frontends/ops/fixed_point.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

using Activation = schema::ActivationFunctionType;

// Sets result 0 to the operand, converted to the result's scale and clamped to
// a range of real numbers.
void SetClamped(OperatorContext& c, Activation activation, double low,
                double high) {
  const Tensor x = c.Input(0);
  if (!c.AnyQuantized()) {
    return c.SetOutput(0, std::isinf(high) ? Relu(x) : Clip(x, low, high));
  }
  if (!CheckPerTensor(c, 1)) return;
  const Quantization& q = *c.InputQuantization(0);
  const Quantization& y = *c.OutputQuantization(0);
  const Tensor centered = CenteredStored(x, q);
  if (q == y) return SetStored(c, centered, activation);
  SetRequantized(c, centered, {ScaleIn32Bits(q.scale(), y)}, activation);
}

// Returns a * b / 2^15 for 16-bit numbers, rounded to nearest, as gemmlowp
// does.
int32_t RoundingProduct16(int32_t a, int32_t b) {
  if (a == b && a == -32768) return 32767;
  const int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

int32_t Saturated16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -32768, 32767));
}

int32_t RoundingShiftRight(int32_t x, int exponent) {
  const int32_t mask = (1 << exponent) - 1;
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

// Rounds the multiplier of a fixed-point number from 31 bits to 15 bits, for
// products of 16-bit numbers.
int32_t Narrowed(const ops::FixedPoint& scale) {
  constexpr int32_t kHighest = 0x7FFFFFFF - (1 << 15);
  return scale.multiplier >= kHighest ? 0x7FFF
                                      : (scale.multiplier + (1 << 15)) >> 16;
}

// Computes x * relu6(x + 3) / 6 of a stored integer with 16-bit arithmetic,
// which gives the same bits as TensorFlow Lite's reference kernel.
int64_t HardSwishOf(int64_t stored, const Quantization& in,
                    const Quantization& out, DType type) {
  // The scale of the operand after it is multiplied by 128, so that it uses 7
  // more bits of 16.
  const float fine_in_scale = in.scale() * (1.0f / 128);
  const ops::FixedPoint result_scale =
      ops::FixedPointOf(ScaleIn32Bits(fine_in_scale, out));
  const ops::FixedPoint relu_scale =
      ops::FixedPointOf(static_cast<double>(fine_in_scale / (3.0f / 32768.0f)));
  const auto value = static_cast<int32_t>(stored - in.zero_point());
  const int32_t fine = value * 128;
  const int32_t on_result_scale =
      RoundingProduct16(fine, Narrowed(result_scale));
  // `gate` is relu6(x + 3) / 6 as a fixed-point number with 15 fractional bits:
  // it saturates in [-1, 1), and is then moved to [0, 1].
  int32_t gate = fine;
  if (relu_scale.shift > 0)
    gate = Saturated16(int64_t{gate} << (relu_scale.shift - 1));
  gate = RoundingProduct16(gate, Narrowed(relu_scale));
  if (relu_scale.shift > 0) gate = Saturated16(int64_t{gate} << 1);
  if (relu_scale.shift < 0) gate = RoundingShiftRight(gate, -relu_scale.shift);
  gate = (gate + (1 << 15)) >> 1;
  // The reference kernel's last division by 2^15 rounds toward zero, while its
  // products round to nearest.
  const int32_t product = gate * on_result_scale / (1 << 15);
  const int32_t rounded =
      RoundingShiftRight(product, std::max(-result_scale.shift, 0));
  return std::clamp(rounded + out.zero_point(), LowestOf(type),
                    HighestOf(type));
}

float SigmoidNumber(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float EluNumber(float x) { return x < 0 ? std::expm1(x) : x; }
float GeluNumber(float x) {
  return x * 0.5f * std::erfc(-x * static_cast<float>(M_SQRT1_2));
}
float TanhGeluNumber(float x) {
  constexpr float kScale = 0.7978845608028654f;
  return 0.5f * x * (1 + std::tanh(kScale * (x + 0.044715f * x * x * x)));
}

// The exponentials of the elements of a quantized tensor, where the greatest
// element along a dim is subtracted first: exp(scale * (x - greatest)). The
// exponentials come from a table, as x has 8 bits.
struct Exponentials {
  Tensor values;  // f32
  // The greatest stored integer along the dim, as i64. The dim stays as one of
  // extent 1.
  Tensor greatest;
};

Exponentials ExponentialsOf(OperatorContext& c, Tensor x, float scale,
                            int dim) {
  std::vector<float> table;
  for (int i = 0; i < 256; ++i)
    table.push_back(std::exp(-scale * static_cast<float>(i)));
  const Tensor wide = Cast(x, DType::kI64);
  const Tensor greatest = Reduce(wide, "maximum", {dim}, true);
  return {Gather(c.Vector(DType::kF32, table), greatest - wide, 0), greatest};
}

// Sets result 0 to the softmax of a quantized operand along the last dim.
void SetQuantizedSoftmax(OperatorContext& c, float beta) {
  if (!CheckPerTensor(c, 1)) return;
  const Tensor x = c.Input(0);
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  const int last = x.rank() - 1;
  if (x.dtype() == DType::kI16) {
    const Tensor real = Softmax(DequantizeStored(x, in) * beta, last);
    return c.SetOutput(0, QuantizeToStored(real, out, type));
  }
  const Tensor terms = ExponentialsOf(c, x, in.scale() * beta, last).values;
  const Tensor sum = Reduce(terms, "sum", {last}, true);
  const Tensor inverse = 1.0 / (sum * static_cast<double>(out.scale()));
  const Tensor scaled = terms * inverse;
  const Tensor rounded =
      type == DType::kU8 ? Floor(scaled + 0.5) : ops::RoundHalfAway(scaled);
  c.SetOutput(0, Cast(rounded + static_cast<double>(out.zero_point()), type));
}

}  // namespace

Tensor Activated(OperatorContext& c, Tensor x, Activation activation) {
  switch (activation) {
    case Activation::NONE:
      return x;
    case Activation::RELU:
      return Relu(x);
    case Activation::RELU_N1_TO_1:
      return Clip(x, -1, 1);
    case Activation::RELU6:
      return Relu6(x);
    case Activation::TANH:
      return Tanh(x);
    case Activation::SIGN_BIT:
      return Cast(Less(x, 0), x.dtype());
  }
  c.FailInvalid("fused activation: expected a value in [0, 5], found " +
                std::to_string(static_cast<int>(activation)));
  return x;
}

void SetFunction(OperatorContext& c, float (*number)(float),
                 Tensor (*real)(Tensor)) {
  const Tensor x = c.Input(0);
  if (!c.AnyQuantized()) return c.SetOutput(0, real(x));
  if (DTypeByteSize(x.dtype()) == 1 && DTypeByteSize(c.OutputType(0)) == 1 &&
      c.OutputQuantization(0) != nullptr)
    return SetThroughTable(c, number);
  const Quantization* q = c.InputQuantization(0);
  const Tensor y = real(q != nullptr ? DequantizeStored(x, *q) : x);
  const Quantization* out = c.OutputQuantization(0);
  c.SetOutput(0, out != nullptr && IsStoredType(c.OutputType(0))
                     ? QuantizeToStored(y, *out, c.OutputType(0))
                     : y);
}

void ImportRelu(OperatorContext& c) {
  SetClamped(c, Activation::RELU, 0, HUGE_VAL);
}
void ImportReluN1To1(OperatorContext& c) {
  SetClamped(c, Activation::RELU_N1_TO_1, -1, 1);
}
void ImportRelu6(OperatorContext& c) { SetClamped(c, Activation::RELU6, 0, 6); }
void ImportRelu0To1(OperatorContext& c) {
  SetFunction(
      c, [](float x) { return std::clamp(x, 0.0f, 1.0f); },
      [](Tensor x) { return Clip(x, 0, 1); });
}
void ImportTanh(OperatorContext& c) {
  SetFunction(c, [](float x) { return std::tanh(x); }, ops::Tanh);
}
void ImportLogistic(OperatorContext& c) {
  SetFunction(c, SigmoidNumber, ops::Sigmoid);
}
void ImportElu(OperatorContext& c) {
  SetFunction(c, EluNumber, [](Tensor x) { return Elu(x, 1); });
}
void ImportGelu(OperatorContext& c) {
  if (c.Options<schema::GeluOptions>().approximate())
    return SetFunction(c, TanhGeluNumber, ops::TanhGelu);
  SetFunction(c, GeluNumber, ops::Gelu);
}

void ImportHardSwish(OperatorContext& c) {
  const Tensor x = c.Input(0);
  if (!c.AnyQuantized()) return c.SetOutput(0, HardSwish(x));
  if (!CheckPerTensor(c, 1)) return;
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  if (DTypeByteSize(x.dtype()) != 1 || DTypeByteSize(type) != 1) {
    return c.SetOutput(
        0, QuantizeToStored(HardSwish(DequantizeStored(x, in)), out, type));
  }
  c.SetOutput(0, ThroughTable(c, x, type, [&](int64_t stored) {
                return HardSwishOf(stored, in, out, type);
              }));
}

void ImportLeakyRelu(OperatorContext& c) {
  const Tensor x = c.Input(0);
  const float alpha = c.Options<schema::LeakyReluOptions>().alpha();
  if (!c.AnyQuantized()) {
    return c.SetOutput(0, LeakyRelu(x, static_cast<double>(alpha)));
  }
  if (!CheckPerTensor(c, 1)) return;
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const Tensor centered = CenteredStored(x, in);
  // A negative slope is applied as its magnitude and a negation, because a
  // fixed-point multiplier cannot be negative.
  const Tensor sloped = ops::MultiplyByFixedPoint(
      centered,
      ops::FixedPointOf(ScaleIn32Bits(in.scale() * std::abs(alpha), out)));
  const Tensor same = ops::MultiplyByFixedPoint(
      centered, ops::FixedPointOf(ScaleIn32Bits(in.scale(), out)));
  SetStored(c, Select(Less(centered, 0), alpha < 0 ? -sloped : sloped, same),
            Activation::NONE);
}

void ImportPrelu(OperatorContext& c) {
  const Tensor x = c.Input(0);
  if (!IsPerTensor(c, 2)) {
    c.DequantizeOperands();
    return SetReal(c, LeakyRelu(c.Input(0), c.Input(1)));
  }
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& slope = *c.InputQuantization(1);
  const Quantization& out = *c.OutputQuantization(0);
  const Tensor centered = CenteredStored(x, in);
  const Tensor sloped = ops::MultiplyByFixedPoint(
      centered * CenteredStored(c.Input(1), slope),
      ops::FixedPointOf(ScaleIn32Bits(in.scale() * slope.scale(), out)));
  const Tensor same = ops::MultiplyByFixedPoint(
      centered, ops::FixedPointOf(ScaleIn32Bits(in.scale(), out)));
  SetStored(c, Select(Less(centered, 0), sloped, same), Activation::NONE);
}

void ImportSoftmax(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const float beta = c.Options<schema::SoftmaxOptions>().beta();
  if (c.AnyQuantized()) return SetQuantizedSoftmax(c, beta);
  const Tensor x = c.Input(0);
  c.SetOutput(
      0, Softmax(beta == 1 ? x : x * static_cast<double>(beta), x.rank() - 1));
}

// Imports LOG_SOFTMAX. For 8-bit operands the exponentials come from a table,
// and the result is computed in f32 on its scale and then rounded, halves to
// even.
void ImportLogSoftmax(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  if (!IsPerTensor(c, 1) || x.dtype() == DType::kI16) {
    c.DequantizeOperands();
    return SetReal(c, LogSoftmax(c.Input(0), last));
  }
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  const Exponentials terms = ExponentialsOf(c, x, in.scale(), last);
  const Tensor greatest = Cast(terms.greatest, DType::kF32);
  const Tensor logarithm = Log(Reduce(terms.values, "sum", {last}, true));
  const Tensor below =
      (greatest * static_cast<double>(in.scale()) + logarithm) /
      static_cast<double>(out.scale());
  const Tensor scaled =
      Cast(x, DType::kF32) * ScaleIn32Bits(in.scale(), out) - below;
  c.SetOutput(
      0, Cast(Round(scaled) + static_cast<double>(out.zero_point()), type));
}

void ImportL2Normalization(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor squares = Reduce(x * x, "sum", {x.rank() - 1}, true);
  c.SetOutput(0, x / Maximum(Sqrt(squares), 1e-6));
}

void ImportLocalResponseNormalization(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const auto& options = c.Options<schema::LocalResponseNormalizationOptions>();
  const int64_t radius = options.radius();
  if (!c.CheckRange("radius", radius, 0, 1 << 20)) return;
  const Tensor x = c.Input(0);
  const std::vector<int64_t> ones(4, 1);
  const Tensor sums =
      Apply("reduce_window", {x * x},
            {{"combiner", std::string("sum")},
             {"window", std::vector<int64_t>{1, 1, 1, 2 * radius + 1}},
             {"strides", ones},
             {"dilations", ones},
             {"low", Shape{Dim(0), Dim(0), Dim(0), Dim(radius)}},
             {"high", Shape{Dim(0), Dim(0), Dim(0), Dim(radius)}}});
  c.SetOutput(0, x * Power(sums * static_cast<double>(options.alpha()) +
                               static_cast<double>(options.bias()),
                           static_cast<double>(-options.beta())));
}

}  // namespace ember::tflite

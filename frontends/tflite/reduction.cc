// Reductions along dims.
#include "frontends/tf_common/reduction.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/fixed_point.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

bool KeepDims(OperatorContext& c) {
  return c.Options<schema::ReducerOptions>().keep_dims();
}

// Divides a fixed-point multiplier by `count`. Like TensorFlow Lite, a mean
// divides the multiplier instead of the sum: in 31 bits, after a left shift by
// the number of bits of the count.
ops::FixedPoint DividedBy(ops::FixedPoint scale, int64_t count) {
  int shift = 0;
  while (shift < 62 && int64_t{1} << (shift + 1) <= count) ++shift;
  shift = std::min({shift, 32, 31 + scale.shift});
  scale.multiplier = static_cast<int32_t>(
      (static_cast<int64_t>(scale.multiplier) << shift) / count);
  scale.shift -= shift;
  return scale;
}

}  // namespace

void ImportMean(OperatorContext& c) {
  const auto axes = tf_common::ReducedAxes(c);
  if (!axes) return;
  const Tensor x = c.Input(0);
  if (!c.AnyQuantized()) return c.SetOutput(0, Mean(x, *axes, KeepDims(c)));
  if (!CheckPerTensor(c, 1)) return;
  int64_t count = 1;
  for (const int64_t axis : *axes) {
    const std::optional<int64_t> extent =
        x.dim(static_cast<int>(axis)).AsConstant();
    if (!extent || *extent < 1 || *extent > (1 << 20) ||
        __builtin_mul_overflow(count, *extent, &count) || count > (1 << 24)) {
      return c.FailUnsupported(
          "expected at most 16777216 quantized elements in constant dims to "
          "take the mean of, found shape " +
          graph::ShapeToString(x.shape()));
    }
  }
  const Quantization& in = *c.InputQuantization(0);
  const double scale = static_cast<double>(in.scale()) /
                       static_cast<double>(c.OutputQuantization(0)->scale());
  const Tensor sum = Reduce(CenteredStored(x, in), "sum", *axes, KeepDims(c));
  SetStored(c,
            ops::MultiplyByFixedPoint(
                sum, DividedBy(ops::FixedPointOf(scale), count)),
            schema::ActivationFunctionType::NONE);
}

void ImportSum(OperatorContext& c) {
  if (!IsPerTensor(c, 1)) {
    c.DequantizeOperands();
    tf_common::ImportReduced(c, "sum", KeepDims(c));
    return SetReal(c, c.outputs()[0].value);
  }
  const auto axes = tf_common::ReducedAxes(c);
  if (!axes) return;
  const Quantization& in = *c.InputQuantization(0);
  const double scale = static_cast<double>(in.scale()) /
                       static_cast<double>(c.OutputQuantization(0)->scale());
  SetRequantized(
      c, Reduce(CenteredStored(c.Input(0), in), "sum", *axes, KeepDims(c)),
      {scale}, schema::ActivationFunctionType::NONE);
}
void ImportReduceProd(OperatorContext& c) {
  tf_common::ImportReduced(c, "product", KeepDims(c));
}
void ImportReduceMax(OperatorContext& c) {
  tf_common::ImportReduced(c, "maximum", KeepDims(c));
}
void ImportReduceMin(OperatorContext& c) {
  tf_common::ImportReduced(c, "minimum", KeepDims(c));
}
void ImportReduceAny(OperatorContext& c) {
  tf_common::ImportReducedBool(c, "maximum", KeepDims(c));
}
void ImportReduceAll(OperatorContext& c) {
  tf_common::ImportReducedBool(c, "minimum", KeepDims(c));
}

}  // namespace ember::tflite

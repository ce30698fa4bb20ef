// Reductions along dims.
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

std::optional<std::vector<int64_t>> ReadAxes(OperatorContext& c) {
  if (!c.CheckRank(0, 0)) return std::nullopt;
  const auto given = c.ConstantIntegers(1, "axes");
  if (!given) return std::nullopt;
  std::vector<int64_t> axes = c.Axes(*given, c.Input(0).rank());
  if (!c.ok()) return std::nullopt;
  return axes;
}

bool KeepDims(OperatorContext& c) {
  return c.Options<schema::ReducerOptions>().keep_dims();
}

void SetReduced(OperatorContext& c, std::string_view combiner) {
  const auto axes = ReadAxes(c);
  if (axes) c.SetOutput(0, Reduce(c.Input(0), combiner, *axes, KeepDims(c)));
}

// Of bool: the largest is whether any is true, the smallest whether all are.
void SetReducedBool(OperatorContext& c, std::string_view combiner) {
  const auto axes = ReadAxes(c);
  if (!axes) return;
  const Tensor x = Cast(Cast(c.Input(0), DType::kBool), DType::kU8);
  c.SetOutput(0, Cast(Reduce(x, combiner, *axes, KeepDims(c)), DType::kBool));
}

// The reference divides the multiplier, not the sum: in 31 bits, after as many
// shifts as the count has bits.
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
  const auto axes = ReadAxes(c);
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

void ImportSum(OperatorContext& c) { SetReduced(c, "sum"); }
void ImportReduceProd(OperatorContext& c) { SetReduced(c, "product"); }
void ImportReduceMax(OperatorContext& c) { SetReduced(c, "maximum"); }
void ImportReduceMin(OperatorContext& c) { SetReduced(c, "minimum"); }
void ImportReduceAny(OperatorContext& c) { SetReducedBool(c, "maximum"); }
void ImportReduceAll(OperatorContext& c) { SetReducedBool(c, "minimum"); }

}  // namespace ember::tflite

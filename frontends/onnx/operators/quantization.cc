// Imports linear quantization: per tensor, per axis and blocked.
#include "frontends/onnx/operators/quantization.h"

#include <optional>
#include <string>
#include <vector>

#include "base/float_format.h"
#include "frontends/onnx/node/carried_types.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Reshapes a scale or zero point so that it broadcasts against x: it may be one
// number, one per slice of `axis`, or one per block along `axis`.
Tensor AlignParameter(NodeContext& c, Tensor parameter, Tensor x) {
  if (!parameter || !c.ok()) return parameter;
  const int64_t block = c.Integer("block_size", 0);
  if (parameter.rank() == 0 ||
      (parameter.rank() == 1 && parameter.dim(0) == Dim(1))) {
    return Reshape(parameter, {});
  }
  const int axis = c.Axis(c.Integer("axis", 1), x.rank());
  if (parameter.rank() == 1 && block == 0)
    return AlongAxis(parameter, axis, x.rank());
  if (parameter.rank() != x.rank() || block < 1) {
    c.FailInvalid(
        "expected one parameter, one per element of the axis, or blocks; found "
        "shape " +
        graph::ShapeToString(parameter.shape()) + " for " +
        graph::ShapeToString(x.shape()));
    return parameter;
  }
  return RepeatBlocks(parameter, axis, block, x.dim(axis));
}

// Adds the zero point of a quantization to floats, which is always 0. The only
// effect is that -0 becomes 0.
Tensor PlusZero(Tensor scaled) {
  Tensor zero = scaled.Like(0);
  return Select(Equal(scaled, zero), zero, scaled);
}

bool Saturates(NodeContext& c) { return c.Integer("saturate", 1) != 0; }

Tensor QuantizeToCarried(NodeContext& c, Tensor scaled, Tensor zero_point,
                         const CarriedFormat& format) {
  if (format.is_float())
    return EncodeCarried(PlusZero(scaled), format, Saturates(c));
  Tensor rounded = Round(scaled);
  if (zero_point) rounded = rounded + Cast(zero_point, DType::kF32);
  return EncodeCarried(rounded, format, true);
}

// Returns operand 1, the scales, as floats. Scales of type FLOAT8E8M0 (powers
// of two) are stored as codes and are decoded.
Tensor ScaleOperand(NodeContext& c) {
  Tensor scale = c.Input(1);
  return scale.carried_type() != 0 ? DecodeCarried(scale, DType::kF32) : scale;
}

// Returns x / scale as f32. From opset 23 on the quotient is rounded to the
// type in the attribute `precision`; without the attribute it is rounded to the
// scale's type.
Tensor Scaled(NodeContext& c, Tensor x, Tensor scale) {
  Tensor quotient = Cast(x, DType::kF32) / Cast(scale, DType::kF32);
  if (c.opset() < 23) return quotient;
  DType precision = scale.dtype();
  if (c.Integer("precision", 0) != 0)
    precision = c.TypeAttribute("precision").value_or(precision);
  if (!IsFloat(precision)) return quotient;
  return Cast(Cast(quotient, precision), DType::kF32);
}

void ImportQuantizeLinear(NodeContext& c) {
  Tensor x = c.Input(0);
  Tensor scale = AlignParameter(c, ScaleOperand(c), x);
  Tensor zero_point = AlignParameter(c, c.Input(2), x);
  const int32_t carried =
      c.Input(2) ? c.Input(2).carried_type()
                 : static_cast<int32_t>(c.Integer("output_dtype", 0));
  if (const CarriedFormat* format = FindCarriedFormat(carried)) {
    return c.SetOutput(
        0, QuantizeToCarried(c, Scaled(c, x, scale), zero_point, *format));
  }
  DType type = zero_point ? zero_point.dtype() : DType::kU8;
  if (!zero_point && c.Integer("output_dtype", 0) != 0) {
    type = c.TypeAttribute("output_dtype").value_or(type);
  }
  if (IsFloat8(type)) {
    return c.SetOutput(
        0, RoundToFloat8(PlusZero(Scaled(c, x, scale)), type, Saturates(c)));
  }
  if (!IsInteger(type))
    return c.FailUnsupported("only integers and floats of 8 bits are results");
  c.SetOutput(0, RoundToQuantized(Scaled(c, x, scale), zero_point, type));
}

void ImportDequantizeLinear(NodeContext& c) {
  Tensor x = c.Input(0);
  Tensor scale = AlignParameter(c, ScaleOperand(c), x);
  Tensor zero_point = AlignParameter(c, c.Input(2), x);
  DType type = scale.dtype();
  if (c.Integer("output_dtype", 0) != 0)
    type = c.TypeAttribute("output_dtype").value_or(type);
  const CarriedFormat* format = FindCarriedFormat(x.carried_type());
  const bool is_float =
      format != nullptr ? format->is_float() : IsFloat8(x.dtype());
  if (is_float) {
    // DecodeCarried converts codes to floats. If x has a dtype of its own, it
    // is only cast.
    Tensor numbers = DecodeCarried(x, DType::kF32);
    return c.SetOutput(0, Cast(numbers * Cast(scale, DType::kF32), type));
  }
  if (!IsInteger(x.dtype()))
    return c.FailUnsupported("only integers and floats of 8 bits are inputs");
  c.SetOutput(0, Cast(Dequantize(x, scale, zero_point), type));
}

void ImportDynamicQuantizeLinear(NodeContext& c) {
  const DynamicallyQuantized y = QuantizeDynamically(c.Input(0));
  c.SetOutput(0, y.values);
  c.SetOutput(1, y.scale);
  c.SetOutput(2, y.zero_point);
}

constexpr OperatorRow kRows[] = {
    {"DequantizeLinear", 10, 2, 3, ImportDequantizeLinear, "",
     CarriedTypes::kNumbers},
    {"DequantizeLinear", 1, 2, 3, ImportDequantizeLinear, "com.microsoft",
     CarriedTypes::kNumbers},
    {"DynamicQuantizeLinear", 11, 1, 1, ImportDynamicQuantizeLinear},
    {"QuantizeLinear", 10, 2, 3, ImportQuantizeLinear, "",
     CarriedTypes::kNumbers},
    {"QuantizeLinear", 1, 2, 3, ImportQuantizeLinear, "com.microsoft",
     CarriedTypes::kNumbers},
};

}  // namespace

std::span<const OperatorRow> QuantizationOperators() { return kRows; }

}  // namespace ember::onnx

// Quantized tensors and operators on them; quantized_layers.cc has the layers.
//
// Products of matrices, averages and sums are computed in integers. Other
// operators compute with the real numbers and round their results, halves to
// the even integer. torchvision's quantized models give what QNNPACK gives, bit
// for bit. FBGEMM and oneDNN, which PyTorch uses on x86, differ from it by one
// quantization step for some elements.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/quantization.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/quantized_sum.h"
#include "frontends/torchscript/quantized_values.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Quantizes the real numbers y with the given scale and zero point, in the
// integer type of `like`.
Value Rounded(Call& c, const Tensor& y, const Value& like,
              const Quantization& quantization) {
  if (!c.ok()) return {};
  return c.machine().NewQuantized(
      QuantizedIntegers(c.machine(), y, quantization,
                        c.machine().Read(*like.cell).dtype()),
      quantization);
}
Tensor Real(Call& c, std::string_view name) {
  return Dequantized(c.machine(), c.value(name));
}
// These functions return the smallest and the largest integer of a type.
double LeastOf(DType type) {
  return type == DType::kI8 ? -128 : type == DType::kI32 ? -2147483648.0 : 0;
}
double MostOf(DType type) {
  return type == DType::kI8 ? 127 : type == DType::kI32 ? 2147483647.0 : 255;
}
// Returns the only element of a constant tensor; nullopt if the tensor is not
// known during the import or has more elements.
std::optional<double> KnownNumber(Call& c, const Tensor& tensor) {
  const auto contents = c.builder().ConstantContents(tensor.value());
  if (!contents || contents->size() != 1) return std::nullopt;
  return contents->front();
}
// Imports the addition of qa and qb in integers, with QNNPACK's rounding.
// Returns nullopt if that is not possible: the operands are not u8, a scale is
// not known during the import, or QNNPACK refuses the scales.
std::optional<Value> IntegerSum(Call& c, bool has_relu) {
  const std::optional<Integers> a = ReadIntegers(c, c.value("qa"), "qa");
  const std::optional<Integers> b = ReadIntegers(c, c.value("qb"), "qb");
  if (!a || !b || a->dtype != DType::kU8 || b->dtype != DType::kU8)
    return std::nullopt;
  const Quantization asked = Asked(c, "scale", "zero_point");
  if (!c.ok()) return std::nullopt;
  const auto a_scale = KnownNumber(c, a->quantization.scale);
  const auto b_scale = KnownNumber(c, b->quantization.scale);
  const auto scale = KnownNumber(c, asked.scale);
  if (!a_scale || !b_scale || !scale) return std::nullopt;
  const auto factors = FactorsOf(*a_scale, *b_scale, *scale);
  if (!factors) return std::nullopt;
  Tensor y = QuantizedSum(a->centered, b->centered, *factors);
  if (has_relu) y = ops::Maximum(y, 0);
  y = ops::Maximum(ops::Minimum(y + asked.zero_point, MostOf(a->dtype)), 0);
  return c.machine().NewQuantized(ops::Cast(y, a->dtype), asked);
}
enum class Combination : uint8_t { kSum, kProduct };
template <Combination combination, bool has_relu>
Value Combined(Call& c) {
  if (!ReadIntegers(c, c.value("qa"), "qa")) return {};
  if (combination == Combination::kSum) {
    if (std::optional<Value> sum = IntegerSum(c, has_relu)) return *sum;
    if (!c.ok()) return {};
  }
  const Tensor a = Real(c, "qa");
  const Tensor b = Real(c, "qb");
  Tensor y = combination == Combination::kSum ? a + b : a * b;
  if (has_relu) y = ops::Relu(y);
  return Rounded(c, y, c.value("qa"), Asked(c, "scale", "zero_point"));
}
// Adds a number to a quantized tensor by moving the zero point. If the zero
// point would leave the integers' range, the scale changes, too.
template <bool has_relu>
Value AddedNumber(Call& c) {
  const Value& qa = c.value("qa");
  const std::optional<Integers> x = ReadIntegers(c, qa, "qa");
  if (!x) return {};
  const auto scale = KnownNumber(c, x->quantization.scale);
  const auto zero_point = KnownNumber(c, x->quantization.zero_point);
  if (!scale || !zero_point) {
    c.FailUnsupported(
        "qa: expected a scale and zero point that are known when importing");
    return {};
  }
  const double number = c.number("b");
  const double least = LeastOf(x->dtype);
  const double most = MostOf(x->dtype);
  const double moved = *zero_point - std::nearbyint(number / *scale);
  double new_scale = *scale;
  double new_zero = moved;
  if (moved < least) {
    new_scale = (most - moved) / (most - least) * *scale;
    new_zero = least;
  } else if (moved > most) {
    new_scale = (moved - least) / (most - least) * *scale;
    new_zero = most;
  }
  const Quantization quantization{
      .scale = c.Number(new_scale, DType::kF32),
      .zero_point = c.Number(new_zero, DType::kI32)};
  Tensor y = Real(c, "qa") + number;
  if (has_relu) y = ops::Relu(y);
  return Rounded(c, y, qa, quantization);
}
template <bool has_relu>
Value MultipliedByNumber(Call& c) {
  const Value& qa = c.value("qa");
  const std::optional<Integers> x = ReadIntegers(c, qa, "qa");
  if (!x) return {};
  const double number = c.number("b");
  if (!(number > 0)) {
    c.FailUnsupported("b: expected a number above 0, found " +
                      std::to_string(number));
    return {};
  }
  Quantization quantization = x->quantization;
  quantization.scale = c.machine().Inside(quantization.scale) * number;
  Tensor y = Real(c, "qa") * number;
  if (has_relu) y = ops::Relu(y);
  return Rounded(c, y, qa, quantization);
}

template <bool has_relu>
Value Joined(Call& c) {
  std::vector<Value> parts;
  const std::vector<Value> given = c.value("qx").list->items;
  if (given.empty() || !ReadIntegers(c, given[0], "qx")) return {};
  for (const Value& part : given)
    parts.push_back(c.machine().NewTensor(Dequantized(c.machine(), part)));
  Tensor y = CallTensorRow(c, "aten::cat",
                           {{"tensors", c.machine().NewList(std::move(parts))},
                            {"dim", c.value("dim")}});
  if (has_relu && c.ok()) y = ops::Relu(y);
  const Quantization quantization = c.has("scale")
                                        ? Asked(c, "scale", "zero_point")
                                        : *given[0].cell->quantization;
  return Rounded(c, y, given[0], quantization);
}

// Runs the operator `op` on the real numbers of the quantized argument `input`,
// and quantizes its result.
Value Through(Call& c, std::string_view op, std::string_view parameter,
              std::string_view input, std::vector<Argument> others,
              const Quantization& quantization) {
  if (!ReadIntegers(c, c.value(input), input)) return {};
  others.push_back(
      {std::string(parameter), c.machine().NewTensor(Real(c, input))});
  return Rounded(c, CallTensorRow(c, op, others), c.value(input), quantization);
}
Value HardSwish(Call& c) {
  return Through(c, "aten::hardswish", "self", "input", {}, Asked(c));
}
Value Sigmoid(Call& c) {
  return Through(c, "aten::sigmoid", "self", "qx", {}, Asked(c));
}
Value Elu(Call& c) {
  return Through(c, "aten::elu", "self", "self",
                 {{"alpha", c.value("alpha")},
                  {"scale", c.value("scale")},
                  {"input_scale", c.value("input_scale")}},
                 Asked(c));
}
Value LeakyRelu(Call& c) {
  return Through(c, "aten::leaky_relu", "self", "qx",
                 {{"negative_slope", c.value("negative_slope")}}, Asked(c));
}
Value Prelu(Call& c) {
  return Through(c, "aten::prelu", "self", "qx",
                 {{"weight", c.machine().NewTensor(Real(c, "weight"))}},
                 Asked(c));
}
Value Relu6(Call& c) {
  const std::optional<Integers> x = ReadIntegers(c, c.value("qx"), "qx");
  if (!x) return {};
  return Through(c, "aten::relu6", "self", "qx", {}, x->quantization);
}
template <bool has_relu>
Value BatchNorm(Call& c) {
  if (!ReadIntegers(c, c.value("qx"), "qx")) return {};
  Tensor y = CallTensorRow(c, "aten::batch_norm",
                           {{"input", c.machine().NewTensor(Real(c, "qx"))},
                            {"weight", c.value("weight")},
                            {"bias", c.value("bias")},
                            {"running_mean", c.value("mean")},
                            {"running_var", c.value("var")},
                            {"training", Value::Bool(false)},
                            {"momentum", Value::Float(0)},
                            {"eps", c.value("eps")},
                            {"cudnn_enabled", Value::Bool(false)}});
  if (has_relu && c.ok()) y = ops::Relu(y);
  return Rounded(c, y, c.value("qx"), Asked(c));
}
Value LayerNorm(Call& c) {
  return Through(c, "aten::layer_norm", "input", "input",
                 {{"normalized_shape", c.value("normalized_shape")},
                  {"weight", c.value("weight")},
                  {"bias", c.value("bias")},
                  {"eps", c.value("eps")}},
                 Asked(c));
}

// The functions below import conversions between real and quantized tensors.
std::optional<DType> IntegerType(Call& c) {
  constexpr int64_t kI8 = 12;
  constexpr int64_t kU8 = 13;
  constexpr int64_t kI32 = 14;
  const int64_t number = c.integer("dtype");
  if (number == kI8) return DType::kI8;
  if (number == kU8) return DType::kU8;
  if (number == kI32) return DType::kI32;
  c.FailUnsupported(
      "dtype: expected qint8, quint8 or qint32, found ScalarType " +
      std::to_string(number));
  return std::nullopt;
}
Value Quantized(Call& c, const Quantization& quantization) {
  const Tensor x = c.tensor("self");
  const std::optional<DType> type = IntegerType(c);
  if (!c.ok() || !type) return {};
  return c.machine().NewQuantized(
      QuantizedIntegers(c.machine(), x, quantization, *type), quantization);
}
Value QuantizePerTensor(Call& c) {
  return Quantized(c, Asked(c, "scale", "zero_point"));
}
Value QuantizePerChannel(Call& c) {
  const Tensor x = c.tensor("self");
  return Quantized(c, {.scale = c.scalar("scales", DType::kF32),
                       .zero_point = c.scalar("zero_points", DType::kI32),
                       .axis = c.axis("axis", x.rank())});
}
Value QuantizeDynamically(Call& c) {
  return Quantized(c, QuantizationOf(c.tensor("self"), c.flag("reduce_range")));
}
Tensor Dequantize(Call& c) { return Dequantized(c.machine(), c.value("self")); }
Value DequantizeAll(Call& c) {
  std::vector<Value> parts;
  const std::vector<Value> given = c.value("tensors").list->items;
  for (const Value& part : given)
    parts.push_back(c.machine().NewTensor(Dequantized(c.machine(), part)));
  return c.machine().NewList(std::move(parts));
}
Tensor IntegersOf(Call& c) { return c.machine().Read(*c.value("self").cell); }
Value ScaleOf(Call& c) {
  const std::optional<Integers> x = ReadIntegers(c, c.value("self"), "self");
  if (!x) return {};
  return c.machine().ToNumber(
      Kind::kFloat,
      ops::Cast(c.machine().Inside(x->quantization.scale), DType::kF64));
}
Value ZeroPointOf(Call& c) {
  const std::optional<Integers> x = ReadIntegers(c, c.value("self"), "self");
  if (!x) return {};
  return c.machine().ToNumber(
      Kind::kInt,
      ops::Cast(c.machine().Inside(x->quantization.zero_point), DType::kI64));
}
Value IsQuantized(Call& c) { return Value::Bool(c.value("a").is_quantized()); }

// Imports fake quantization: rounds real numbers to those that the integers
// quant_min to quant_max represent. The result is real numbers, too.
Tensor FakeQuantized(Call& c, Tensor scale, Tensor zero_point) {
  const Tensor x = c.tensor("self");
  const double least = c.number("quant_min");
  const double most = c.number("quant_max");
  if (!c.ok()) return x;
  const Tensor step = ops::Round(x * (1.0 / scale) + zero_point);
  return (ops::Minimum(ops::Maximum(step, least), most) - zero_point) * scale;
}
Tensor FakeQuantizePerTensor(Call& c) {
  return FakeQuantized(c, c.scalar("scale", DType::kF32),
                       c.scalar("zero_point", DType::kF32));
}
Tensor FakeQuantizePerChannel(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("axis", x.rank());
  return FakeQuantized(
      c, ops::AlongAxis(c.scalar("scale", DType::kF32), axis, x.rank()),
      ops::AlongAxis(c.scalar("zero_point", DType::kF32), axis, x.rank()));
}

#define EMBER_TORCH_QUANTIZED_BINARY \
  "(Tensor qa, Tensor qb, float scale, int zero_point)"
#define EMBER_TORCH_BY_NUMBER "(Tensor qa, Number b)"
#define EMBER_TORCH_QUANTIZED_NORM                                      \
  "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, " \
  "float eps, float output_scale, int output_zero_point)"
#define EMBER_TORCH_QUANTIZED_CAT \
  "(t[] qx, int dim, float? scale=None, int? zero_point=None)"

constexpr OperatorRow kRows[] = {
    {"quantized::add" EMBER_TORCH_QUANTIZED_BINARY,
     Combined<Combination::kSum, false>},
    {"quantized::add_relu" EMBER_TORCH_QUANTIZED_BINARY,
     Combined<Combination::kSum, true>},
    {"quantized::mul" EMBER_TORCH_QUANTIZED_BINARY,
     Combined<Combination::kProduct, false>},
    {"quantized::mul_relu" EMBER_TORCH_QUANTIZED_BINARY,
     Combined<Combination::kProduct, true>},
    {"quantized::add" EMBER_TORCH_BY_NUMBER, AddedNumber<false>},
    {"quantized::add_scalar" EMBER_TORCH_BY_NUMBER, AddedNumber<false>},
    {"quantized::add_scalar_relu" EMBER_TORCH_BY_NUMBER, AddedNumber<true>},
    {"quantized::mul" EMBER_TORCH_BY_NUMBER, MultipliedByNumber<false>},
    {"quantized::mul_scalar" EMBER_TORCH_BY_NUMBER, MultipliedByNumber<false>},
    {"quantized::mul_scalar_relu" EMBER_TORCH_BY_NUMBER,
     MultipliedByNumber<true>},
    {"quantized::cat" EMBER_TORCH_QUANTIZED_CAT, Joined<false>},
    {"quantized::cat_relu" EMBER_TORCH_QUANTIZED_CAT, Joined<true>},
    {"quantized::hardswish(Tensor input, float output_scale, "
     "int output_zero_point)",
     HardSwish},
    {"quantized::sigmoid(Tensor qx, float output_scale, "
     "int output_zero_point)",
     Sigmoid},
    {"quantized::elu(Tensor self, float output_scale, int output_zero_point, "
     "Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)",
     Elu},
    {"quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, "
     "float output_scale, int output_zero_point)",
     LeakyRelu},
    {"quantized::prelu(Tensor qx, Tensor weight, float output_scale, "
     "int output_zero_point)",
     Prelu},
    {"quantized::relu6(Tensor qx, bool inplace=False)", Relu6},
    {"quantized::batch_norm" EMBER_TORCH_QUANTIZED_NORM, BatchNorm<false>},
    {"quantized::batch_norm_relu" EMBER_TORCH_QUANTIZED_NORM, BatchNorm<true>},
    {"quantized::batch_norm2d" EMBER_TORCH_QUANTIZED_NORM, BatchNorm<false>},
    {"quantized::batch_norm2d_relu" EMBER_TORCH_QUANTIZED_NORM,
     BatchNorm<true>},
    {"quantized::batch_norm3d" EMBER_TORCH_QUANTIZED_NORM, BatchNorm<false>},
    {"quantized::batch_norm3d_relu" EMBER_TORCH_QUANTIZED_NORM,
     BatchNorm<true>},
    {"quantized::layer_norm(Tensor input, int[] normalized_shape, "
     "Tensor? weight, Tensor? bias, float eps, float output_scale, "
     "int output_zero_point)",
     LayerNorm},
    {"quantize_per_tensor(Tensor self, Operand scale, Operand zero_point, "
     "ScalarType dtype)",
     QuantizePerTensor},
    {"quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, "
     "bool reduce_range)",
     QuantizeDynamically},
    {"quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, "
     "int axis, ScalarType dtype)",
     QuantizePerChannel},
    {"dequantize(Tensor self)", Dequantize},
    {"dequantize(t[] tensors)", DequantizeAll},
    {"int_repr(Tensor self)", IntegersOf},
    {"q_scale(Tensor self)", ScaleOf},
    {"q_zero_point(Tensor self)", ZeroPointOf},
    {"prim::is_quantized(Tensor a)", IsQuantized},
    {"fake_quantize_per_tensor_affine(Tensor self, Operand scale, "
     "Operand zero_point, int quant_min, int quant_max)",
     FakeQuantizePerTensor},
    {"fake_quantize_per_channel_affine(Tensor self, Tensor scale, "
     "Tensor zero_point, int axis, int quant_min, int quant_max)",
     FakeQuantizePerChannel},
};

}  // namespace

std::span<const OperatorRow> QuantizedRows() { return kRows; }

}  // namespace ember::torchscript

// Quantized tensors and layers, and layers whose weights a mobile build of
// PyTorch has packed.
//
// Products of matrices, averages and sums are computed in integers. Other
// operators compute with the real numbers and round their results, halves to
// the even integer. torchvision's quantized models give what QNNPACK gives, bit
// for bit. FBGEMM and oneDNN, which PyTorch uses on x86, differ from it by one
// quantization step for some elements.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/quantization.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/packed.h"
#include "frontends/torchscript/promotion.h"
#include "frontends/torchscript/quantized_sum.h"
#include "frontends/torchscript/quantized_values.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// The integers of a quantized operand minus the zero point, as i32, and the
// quantization of the operand.
struct Integers {
  Tensor centered;
  Quantization quantization;
  DType dtype = DType::kU8;
};
std::optional<Integers> ReadIntegers(Call& c, const Value& value,
                                     std::string_view what) {
  if (!value.is_quantized()) {
    c.FailInvalid(std::string(what) + ": expected a quantized tensor, found " +
                  Describe(value));
    return std::nullopt;
  }
  Integers integers;
  const Tensor x = c.machine().Read(*value.cell);
  integers.quantization = *value.cell->quantization;
  integers.dtype = x.dtype();
  integers.centered = ops::Centered(
      x, AlongItsAxis(c.machine(), integers.quantization.zero_point,
                      integers.quantization.axis, x.rank()));
  if (!c.ok()) return std::nullopt;
  return integers;
}

// Returns the scale and zero point that a call requests for its result.
Quantization Asked(Call& c, std::string_view scale = "output_scale",
                   std::string_view zero_point = "output_zero_point") {
  return {.scale = c.scalar(scale, DType::kF32),
          .zero_point = c.scalar(zero_point, DType::kI32)};
}

// The result of a layer that computes with integers: the sums, and the scale by
// which the sums are multiplied. Scale and bias broadcast.
struct Sums {
  Tensor sums;   // i32
  Tensor scale;  // f32
  Tensor bias;   // f32, or absent
};
Value Requantized(Call& c, const Sums& layer, DType type, bool has_relu) {
  // Multiplying by 1 / scale instead of dividing by the scale gives the last
  // bit that QNNPACK has, so that whole models are equal to it.
  const Quantization asked = Asked(c);
  Tensor sums = layer.sums;
  if (layer.bias) {
    const Tensor bias = layer.bias * (1.0 / layer.scale);
    sums = sums + ops::Cast(ops::Round(bias), DType::kI32);
  }
  if (!c.ok()) return {};
  Tensor y = ops::RoundToQuantized(
      ops::Cast(sums, DType::kF32) * (layer.scale * (1.0 / asked.scale)),
      asked.zero_point, type);
  if (has_relu) y = ops::Maximum(y, ops::Cast(asked.zero_point, type));
  return c.machine().NewQuantized(y, asked);
}

std::optional<Sums> ConvolvedIntegers(Call& c, const PackedConvolution& packed,
                                      const Integers& x) {
  const std::optional<Integers> w = ReadIntegers(c, packed.weight, "weight");
  if (!w) return std::nullopt;
  Machine& machine = c.machine();
  Sums layer;
  layer.sums = CallTensorRow(
      c, "aten::convolution",
      {{"input", machine.NewTensor(x.centered)},
       {"weight", machine.NewTensor(w->centered)},
       {"bias", Value::None()},
       {"stride", packed.List(machine, packed.stride)},
       {"padding", packed.List(machine, packed.padding)},
       {"dilation", packed.List(machine, packed.dilation)},
       {"transposed", Value::Bool(packed.is_transposed)},
       {"output_padding", packed.List(machine, packed.output_padding)},
       {"groups", Value::Int(Dim(packed.groups))}});
  if (!c.ok()) return std::nullopt;
  const int rank = layer.sums.rank();
  const int axis =
      w->quantization.axis < 0 ? -1 : rank - (w->centered.rank() - 1);
  layer.scale = machine.Inside(x.quantization.scale) *
                AlongItsAxis(machine, w->quantization.scale, axis, rank);
  if (!packed.bias.is_none()) {
    layer.bias = ops::AlongAxis(c.machine().ToTensor(packed.bias),
                                rank - (w->centered.rank() - 1), rank);
  }
  return layer;
}
template <bool has_relu>
Value Convolution(Call& c) {
  const std::optional<Integers> x = ReadIntegers(c, c.value("qx"), "qx");
  const std::optional<PackedConvolution> packed =
      x ? ReadPackedConvolution(c, "packed_weight") : std::nullopt;
  if (!packed) return {};
  const std::optional<Sums> layer = ConvolvedIntegers(c, *packed, *x);
  return layer ? Requantized(c, *layer, x->dtype, has_relu) : Value();
}

std::optional<Sums> MultipliedIntegers(Call& c, const PackedLinear& packed,
                                       const Integers& x) {
  const std::optional<Integers> w = ReadIntegers(c, packed.weight, "weight");
  if (!w) return std::nullopt;
  Machine& machine = c.machine();
  Sums layer;
  layer.sums = CallTensorRow(c, "aten::linear",
                             {{"input", machine.NewTensor(x.centered)},
                              {"weight", machine.NewTensor(w->centered)}});
  if (!c.ok()) return std::nullopt;
  const int rank = layer.sums.rank();
  layer.scale = machine.Inside(x.quantization.scale) *
                AlongItsAxis(machine, w->quantization.scale,
                             w->quantization.axis < 0 ? -1 : rank - 1, rank);
  if (!packed.bias.is_none()) layer.bias = machine.ToTensor(packed.bias);
  return layer;
}
template <bool has_relu>
Value Linear(Call& c) {
  const std::optional<Integers> x = ReadIntegers(c, c.value("X"), "X");
  const std::optional<PackedLinear> packed =
      x ? ReadPackedLinear(c, "W_prepack") : std::nullopt;
  if (!packed) return {};
  const std::optional<Sums> layer = MultipliedIntegers(c, *packed, *x);
  return layer ? Requantized(c, *layer, x->dtype, has_relu) : Value();
}

// Returns the scale and zero point with which the numbers of u8 cover the range
// of a tensor's elements and 0. is_half: only the numbers 0 to 127 are used.
Quantization RangeOf(Call& c, const Tensor& x, bool is_half) {
  const double most = is_half ? 127 : 255;
  const Tensor low =
      ops::Cast(ops::Minimum(ops::Reduce(x, "minimum", AllAxes(x), false), 0),
                DType::kF64);
  const Tensor high =
      ops::Cast(ops::Maximum(ops::Reduce(x, "maximum", AllAxes(x), false), 0),
                DType::kF64);
  Tensor scale = (high - low) / most;
  scale = ops::Select(ops::LessEqual(scale, 1e-38), scale.Like(0.1), scale);
  // The zero point is computed from the lower or the upper end of the range,
  // whichever gives the smaller rounding error.
  const Tensor from_low = -low / scale;
  const Tensor from_high = most - high / scale;
  const Tensor error_low = ops::Absolute(low / scale);
  const Tensor error_high = most + ops::Absolute(high / scale);
  const Tensor best =
      ops::Select(ops::Less(error_low, error_high), from_low, from_high);
  const Tensor zero_point =
      ops::Round(ops::Maximum(ops::Minimum(best, most), 0));
  return {.scale = ops::Cast(scale, DType::kF32),
          .zero_point = ops::Cast(zero_point, DType::kI32)};
}
Value FloatLinear(Call& c, const PackedLinear& packed, bool has_relu) {
  Machine& machine = c.machine();
  // The weights of this layer are not quantized but f16: they are rounded to
  // f16, and converted back to f32 for the product.
  const Tensor weight = ops::Cast(
      ops::Cast(machine.ToTensor(packed.weight), DType::kF16), DType::kF32);
  Tensor y = CallTensorRow(c, "aten::linear",
                           {{"input", c.value("X")},
                            {"weight", machine.NewTensor(weight)},
                            {"bias", packed.bias}});
  if (!c.ok()) return {};
  return machine.NewTensor(has_relu ? ops::Relu(y) : y);
}
template <bool has_relu>
Value DynamicLinear(Call& c) {
  const Tensor x = c.tensor("X");
  const std::optional<PackedLinear> packed = ReadPackedLinear(c, "W_prepack");
  if (!packed) return {};
  if (!packed->weight.is_quantized()) return FloatLinear(c, *packed, has_relu);
  Integers integers;
  integers.quantization = RangeOf(c, x, c.flag("reduce_range"));
  const Tensor stored =
      QuantizedIntegers(c.machine(), x, integers.quantization, DType::kU8);
  integers.centered = ops::Centered(stored, integers.quantization.zero_point);
  const std::optional<Sums> layer = MultipliedIntegers(c, *packed, integers);
  if (!layer) return {};
  Tensor y = ops::Cast(layer->sums, DType::kF32) * layer->scale;
  if (layer->bias) y = y + layer->bias;
  return c.machine().NewTensor(has_relu ? ops::Relu(y) : y);
}

// Returns real numbers as a quantized tensor with the given quantization, in
// the integer type of `like`.
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
// Returns the number in a tensor of one element; nullopt if it is not known
// when importing.
std::optional<double> KnownNumber(Call& c, const Tensor& tensor) {
  const auto contents = c.builder().ConstantContents(tensor.value());
  if (!contents || contents->size() != 1) return std::nullopt;
  return contents->front();
}
// Returns the sum of qa and qb as QNNPACK computes it. Returns nullopt if the
// operands are not u8, which QNNPACK does not add, or if a scale is not known
// when importing.
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

// Runs an operator on the real numbers of a quantized input, and quantizes its
// result.
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
  return Quantized(c, RangeOf(c, c.tensor("self"), c.flag("reduce_range")));
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

// Rounds real numbers to quantization steps. The result is a tensor of real
// numbers, too.
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

// The functions below import layers whose weights are packed for a mobile
// build. These layers compute with real numbers, and may clamp their results.
Tensor Clamped(Call& c, Tensor y, const Value& least, const Value& most) {
  if (least.is_known_number()) y = ops::Maximum(y, least.known_number());
  if (most.is_known_number()) y = ops::Minimum(y, most.known_number());
  return y;
}
Tensor RunPackedLinear(Call& c) {
  const std::optional<PackedLinear> packed = ReadPackedLinear(c, "W_prepack");
  if (!packed) return c.tensor("X");
  const Tensor y = CallTensorRow(c, "aten::linear",
                                 {{"input", c.value("X")},
                                  {"weight", packed->weight},
                                  {"bias", packed->bias}});
  return c.ok() ? Clamped(c, y, packed->least, packed->most) : y;
}
Tensor RunPackedConvolution(Call& c) {
  const std::optional<PackedConvolution> packed =
      ReadPackedConvolution(c, "W_prepack");
  if (!packed) return c.tensor("X");
  Machine& machine = c.machine();
  const Tensor y = CallTensorRow(
      c, "aten::convolution",
      {{"input", c.value("X")},
       {"weight", packed->weight},
       {"bias", packed->bias},
       {"stride", packed->List(machine, packed->stride)},
       {"padding", packed->List(machine, packed->padding)},
       {"dilation", packed->List(machine, packed->dilation)},
       {"transposed", Value::Bool(packed->is_transposed)},
       {"output_padding", packed->List(machine, packed->output_padding)},
       {"groups", Value::Int(Dim(packed->groups))}});
  return c.ok() ? Clamped(c, y, packed->least, packed->most) : y;
}

#define EMBER_TORCH_QUANTIZED_CONV                      \
  "(Tensor qx, any packed_weight, float output_scale, " \
  "int output_zero_point)"
#define EMBER_TORCH_QUANTIZED_LINEAR \
  "(Tensor X, any W_prepack, float output_scale, int output_zero_point)"
#define EMBER_TORCH_DYNAMIC_LINEAR \
  "(Tensor X, any W_prepack, bool reduce_range=False)"
#define EMBER_TORCH_QUANTIZED_BINARY \
  "(Tensor qa, Tensor qb, float scale, int zero_point)"
#define EMBER_TORCH_BY_NUMBER "(Tensor qa, Number b)"
#define EMBER_TORCH_QUANTIZED_NORM                                      \
  "(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, " \
  "float eps, float output_scale, int output_zero_point)"
#define EMBER_TORCH_QUANTIZED_CAT \
  "(t[] qx, int dim, float? scale=None, int? zero_point=None)"

constexpr OperatorRow kRows[] = {
    {"quantized::conv1d" EMBER_TORCH_QUANTIZED_CONV, Convolution<false>},
    {"quantized::conv1d_relu" EMBER_TORCH_QUANTIZED_CONV, Convolution<true>},
    {"quantized::conv2d" EMBER_TORCH_QUANTIZED_CONV, Convolution<false>},
    {"quantized::conv2d_relu" EMBER_TORCH_QUANTIZED_CONV, Convolution<true>},
    {"quantized::conv3d" EMBER_TORCH_QUANTIZED_CONV, Convolution<false>},
    {"quantized::conv3d_relu" EMBER_TORCH_QUANTIZED_CONV, Convolution<true>},
    {"quantized::conv_transpose1d" EMBER_TORCH_QUANTIZED_CONV,
     Convolution<false>},
    {"quantized::conv_transpose2d" EMBER_TORCH_QUANTIZED_CONV,
     Convolution<false>},
    {"quantized::linear" EMBER_TORCH_QUANTIZED_LINEAR, Linear<false>},
    {"quantized::linear_relu" EMBER_TORCH_QUANTIZED_LINEAR, Linear<true>},
    {"quantized::linear_dynamic" EMBER_TORCH_DYNAMIC_LINEAR,
     DynamicLinear<false>},
    {"quantized::linear_relu_dynamic" EMBER_TORCH_DYNAMIC_LINEAR,
     DynamicLinear<true>},
    {"quantized::linear_dynamic_fp16" EMBER_TORCH_DYNAMIC_LINEAR,
     DynamicLinear<false>},
    {"quantized::linear_relu_dynamic_fp16" EMBER_TORCH_DYNAMIC_LINEAR,
     DynamicLinear<true>},
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
    {"quantized::linear_prepack(Tensor W, Tensor? B=None)", PackLinear},
    {"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None)", PackLinear},
    {"prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, "
     "Scalar? output_min=None, Scalar? output_max=None)",
     PackLinear},
    {"quantized::linear_unpack(any W_prepack)", UnpackLayer},
    {"quantized::linear_unpack_fp16(any W_prepack)", UnpackLayer},
    {"quantized::conv2d_unpack(any packed_weights)", UnpackLayer},
    {"quantized::conv1d_prepack" EMBER_TORCH_PREPACK, PackConvolution},
    {"quantized::conv2d_prepack" EMBER_TORCH_PREPACK, PackConvolution},
    {"quantized::conv3d_prepack" EMBER_TORCH_PREPACK, PackConvolution},
    {"quantized::conv_transpose1d_prepack" EMBER_TORCH_PREPACK_TRANSPOSED,
     PackTransposedConvolution},
    {"quantized::conv_transpose2d_prepack" EMBER_TORCH_PREPACK_TRANSPOSED,
     PackTransposedConvolution},
    {"prepacked::conv2d_clamp_prepack" EMBER_TORCH_PREPACK, PackConvolution},
    {"prepacked::conv2d_transpose_clamp_prepack" EMBER_TORCH_PREPACK_TRANSPOSED,
     PackTransposedConvolution},
    {"prepacked::linear_clamp_run(Tensor X, any W_prepack)", RunPackedLinear},
    {"prepacked::conv2d_clamp_run(Tensor X, any W_prepack)",
     RunPackedConvolution},
    {"prepacked::conv2d_transpose_clamp_run(Tensor X, any W_prepack)",
     RunPackedConvolution},
};

}  // namespace

std::span<const OperatorRow> QuantizedRows() { return kRows; }

}  // namespace ember::torchscript

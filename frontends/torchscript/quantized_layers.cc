// Quantized layers, and layers whose weights a mobile build of PyTorch has
// packed. Products of matrices are computed in integers (quantized.cc).
#include <optional>

#include "frontends/ops/quantization.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/packed.h"
#include "frontends/torchscript/quantized_values.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// The result of a quantized layer before requantization: the integer sums, the
// scale that converts them to real numbers, and the bias. Scale and bias
// broadcast against the sums.
struct Sums {
  Tensor sums;   // i32
  Tensor scale;  // f32
  Tensor bias;   // f32, or absent
};
Value Requantized(Call& c, const Sums& layer, DType type, bool has_relu) {
  // QNNPACK multiplies by 1 / scale instead of dividing by the scale. Doing the
  // same gives equal bits for whole models.
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

Value FloatLinear(Call& c, const PackedLinear& packed, bool has_relu) {
  Machine& machine = c.machine();
  // This layer has weights in f16 instead of quantized ones: they are rounded
  // to f16, and converted back to f32 for the product.
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
  integers.quantization = QuantizationOf(x, c.flag("reduce_range"));
  const Tensor stored =
      QuantizedIntegers(c.machine(), x, integers.quantization, DType::kU8);
  integers.centered = ops::Centered(stored, integers.quantization.zero_point);
  const std::optional<Sums> layer = MultipliedIntegers(c, *packed, integers);
  if (!layer) return {};
  Tensor y = ops::Cast(layer->sums, DType::kF32) * layer->scale;
  if (layer->bias) y = y + layer->bias;
  return c.machine().NewTensor(has_relu ? ops::Relu(y) : y);
}

// The functions below import layers that were packed for mobile builds. They
// compute with real numbers, and may clamp their results.
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

std::span<const OperatorRow> QuantizedLayerRows() { return kRows; }

}  // namespace ember::torchscript

#include <algorithm>

#include "base/rounding.h"
#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Makes the scale and zero point of a quantized tensor, by its type, and
// returns their names.
Names Scaled(Builder& b, int32_t type, const Dims& dims = {},
             bool is_symmetric = false) {
  const bool is_signed = type == TensorProto::INT8;
  Range zeros = is_signed ? Range{-20, 20, false} : Range{90, 160, false};
  if (is_symmetric) zeros = {0, 0, false};
  // Scales are separate random constants. If two scales were equal, every
  // second average would be a tie, which no small change of the scales would
  // reveal (judge.h: unstable).
  return {
      b.New(TensorProto::FLOAT, dims, {0.005, 0.08, false}, Source::kConstant)
          .name,
      b.New(type, dims, zeros, Source::kConstant).name};
}

Range BytesOf(int32_t type) {
  return type == TensorProto::INT8 ? Range{-128, 127, false}
                                   : Range{0, 255, false};
}

Value Bytes(Builder& b, int32_t type, const Dims& dims) {
  return b.Operand(type, dims, BytesOf(type));
}

// Quantizes a float tensor to bytes, which other recipes use, or dequantizes it
// again.
bool QuantizeDequantize(Builder& b, const Recipe& recipe) {
  const bool is_wide =
      b.opset() >= 21 && recipe.domain.empty() && b.random().Chance(0.1);
  const Value x = b.Pick("f", 0, 4);
  const int32_t type = is_wide ? b.Type("sS") : b.Type("cC");
  Attributes attributes;
  Dims dims;
  if (b.opset() >= 13 && x.rank() > 0 && b.random().Chance(0.3)) {
    const int axis = b.Axis(x);
    attributes.emplace_back("axis", axis);
    dims = {x.dims()[static_cast<size_t>((axis + x.rank()) % x.rank())]};
  }
  const std::string domain(recipe.domain);
  const Names scaled = Scaled(b, type, dims);
  const std::string quantized = b.Node(
      "QuantizeLinear", {x.name, scaled[0], scaled[1]}, attributes, domain);
  if (b.random().Chance(0.7) || recipe.name == "DequantizeLinear")
    b.Node("DequantizeLinear", {quantized, scaled[0], scaled[1]}, attributes,
           domain);
  return true;
}

// Quantizes or dequantizes with a scale for each block of an axis.
bool Blocked(Builder& b, const Recipe& recipe) {
  if (b.opset() < 21) return false;
  const int64_t n = b.random().Between(1, 4), block = b.random().Between(2, 8),
                count = b.random().Between(1, 4);
  const Value x = b.Operand(TensorProto::FLOAT, {n, block * count});
  const Value scale = b.Operand(TensorProto::FLOAT, {n, count},
                                {0.01, 0.1, false}, Source::kConstant);
  const Value zero = b.Operand(TensorProto::UINT8, {n, count}, {90, 160, false},
                               Source::kConstant);
  const Attributes attributes = {{"axis", 1},
                                 {"block_size", static_cast<int>(block)}};
  const std::string quantized =
      b.Node("QuantizeLinear", {x.name, scale.name, zero.name}, attributes);
  b.Node("DequantizeLinear", {quantized, scale.name, zero.name}, attributes);
  return true;
}

bool QLinearMatMul(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC"), weights = b.Type("cC");
  const Dims dims = b.Shape(b.random().Between(2, 3));
  const int64_t n = b.Extent();
  const Value x = Bytes(b, type, dims), w = Bytes(b, weights, {dims.back(), n});
  const Names a = Scaled(b, type), c = Scaled(b, weights), y = Scaled(b, type);
  b.Node("QLinearMatMul", {x.name, a[0], a[1], w.name, c[0], c[1], y[0], y[1]});
  return true;
}

bool MatMulInteger(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC"), weights = b.Type("cC");
  const Dims dims = b.Shape(b.random().Between(2, 3));
  // Matrices without elements along the summed dim are left out: ONNX Runtime
  // does not initialise the result for them.
  if (dims.back() == 0) return false;
  Names inputs = {Bytes(b, type, dims).name,
                  Bytes(b, weights, {dims.back(), b.Extent()}).name};
  if (b.random().Chance(0.7)) {
    inputs.push_back(b.Operand(type, {}, BytesOf(type)).name);
    if (b.random().Chance(0.6))
      inputs.push_back(b.Operand(weights, {}, BytesOf(weights)).name);
  }
  b.Node("MatMulInteger", inputs);
  return true;
}

struct Convolution {
  Dims x, w;
  int64_t groups = 1;
  Attributes attributes;
};

Convolution DrawConvolution(Builder& b) {
  Convolution conv;
  const int64_t each = b.random().Between(1, 5), out = b.random().Between(1, 5);
  conv.groups = b.random().Chance(0.75) ? 1 : b.random().Between(2, 3);
  const int64_t h = b.random().Between(3, 9), w = b.random().Between(3, 9),
                k = b.random().Between(1, 3);
  conv.x = {b.random().Between(1, 2), each * conv.groups, h, w};
  conv.w = {out * conv.groups, each, k, k};
  const int64_t stride = b.random().Between(1, 2),
                pad = b.random().Between(0, k - 1);
  conv.attributes = {{"strides", std::vector<int64_t>{stride, stride}},
                     {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                     {"group", static_cast<int>(conv.groups)}};
  return conv;
}

bool QLinearConv(Builder& b, const Recipe& recipe) {
  const Convolution conv = DrawConvolution(b);
  const int32_t type = b.Type("cC"), weights = type == TensorProto::INT8
                                                   ? int32_t{TensorProto::INT8}
                                                   : b.Type("cC");
  const bool is_per_channel = b.random().Chance(0.4);
  const Names x = Scaled(b, type), y = Scaled(b, type);
  const Names w = Scaled(b, weights, is_per_channel ? Dims{conv.w[0]} : Dims{},
                         is_per_channel && weights == TensorProto::INT8);
  Names inputs = {Bytes(b, type, conv.x).name,
                  x[0],
                  x[1],
                  Bytes(b, weights, conv.w).name,
                  w[0],
                  w[1],
                  y[0],
                  y[1]};
  if (b.random().Chance(0.6))
    inputs.push_back(b.Operand(TensorProto::INT32, {conv.w[0]},
                               {-500, 500, false}, Source::kConstant)
                         .name);
  // The operator of com.microsoft may have its channels last. This recipe
  // generates only the form with channels first, which is valid in both
  // domains.
  b.Node("QLinearConv", inputs, conv.attributes, std::string(recipe.domain));
  return true;
}

bool ConvInteger(Builder& b, const Recipe& recipe) {
  const Convolution conv = DrawConvolution(b);
  const int32_t type = TensorProto::UINT8, weights = b.Type("cC");
  Names inputs = {Bytes(b, type, conv.x).name, Bytes(b, weights, conv.w).name};
  if (b.random().Chance(0.6)) {
    inputs.push_back(b.Operand(type, {}, BytesOf(type)).name);
    if (b.random().Chance(0.5))
      inputs.push_back(b.Operand(weights, {}, BytesOf(weights)).name);
  }
  b.Node("ConvInteger", inputs, conv.attributes);
  return true;
}

// Adds an operator of com.microsoft on bytes: x, its scale and zero point for
// one or two operands, then those of the result.
bool QLinear(Builder& b, const Recipe& recipe) {
  const bool is_binary =
      recipe.name == "QLinearAdd" || recipe.name == "QLinearMul";
  const bool is_pool = recipe.name == "QLinearAveragePool" ||
                       recipe.name == "QLinearGlobalAveragePool";
  const int32_t type = b.Type("cC");
  const Value x =
      is_pool ? Bytes(b, type,
                      {b.random().Between(1, 2), b.random().Between(1, 9),
                       b.random().Between(2, 8), b.random().Between(2, 8)})
              : Bytes(b, type, b.Shape(b.random().Between(1, 4)));
  // Rows of one element are not generated: their softmax is 1, but ONNX Runtime
  // returns 0.
  if (recipe.name == "QLinearSoftmax" && x.dims().back() < 2) return false;
  Names inputs = {x.name};
  for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  if (is_binary) {
    Dims dims = x.dims();
    for (int64_t& dim : dims)
      if (b.random().Chance(0.2)) dim = 1;
    inputs.push_back(Bytes(b, type, dims).name);
    for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  }
  Attributes attributes;
  Names result = Scaled(b, type);
  // The scale is not 1 / 256: for a probability of 1, ONNX Runtime's 256 would
  // overflow to 0.
  if (recipe.name == "QLinearSigmoid" || recipe.name == "QLinearSoftmax")
    result = {b.Scalar(TensorProto::FLOAT, 1.0 / 255),
              b.Integer(type == TensorProto::INT8 ? -128 : 0, type)};
  inputs.insert(inputs.end(), result.begin(), result.end());
  if (recipe.name == "QLinearLeakyRelu") attributes.emplace_back("alpha", 0.1);
  if (recipe.name == "QLinearAveragePool")
    attributes.emplace_back("kernel_shape", std::vector<int64_t>{2, 2});
  if (recipe.name == "QLinearReduceMean") {
    attributes.emplace_back("axes", std::vector<int64_t>{x.rank() - 1});
    attributes.emplace_back("keepdims", b.random().Chance(0.5) ? 1 : 0);
  }
  if (recipe.name == "QLinearSoftmax") {
    attributes.emplace_back("axis", -1);
    attributes.emplace_back("opset", 13);
  }
  b.Node(std::string(recipe.name), inputs, attributes, "com.microsoft");
  return true;
}

bool QLinearConcat(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC");
  Names inputs = Scaled(b, type);
  const Dims dims = b.Shape(2);
  for (int64_t i = b.random().Between(1, 3); i > 0; --i) {
    inputs.push_back(Bytes(b, type, {dims[0], b.random().Between(1, 6)}).name);
    for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  }
  b.Node("QLinearConcat", inputs, {{"axis", 1}}, "com.microsoft");
  return true;
}

bool QLinearWhere(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC");
  const Dims dims = b.Shape(b.random().Between(1, 3));
  Names inputs = {b.Operand(TensorProto::BOOL, dims).name};
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(Bytes(b, type, dims).name);
    for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  }
  for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  b.Node("QLinearWhere", inputs, {}, "com.microsoft");
  return true;
}

bool DynamicQuantizeMatMul(Builder& b, const Recipe& recipe) {
  const int32_t weights = b.Type("cC");
  const Value x = b.Pick("f", 2, 3);
  const int64_t k = x.dims().back(), n = b.random().Between(1, 20);
  const Names w = Scaled(b, weights);
  Names inputs = {
      x.name,
      b.Operand(weights, {k, n}, BytesOf(weights), Source::kConstant).name,
      w[0], w[1]};
  if (b.random().Chance(0.5))
    inputs.push_back(
        b.Operand(TensorProto::FLOAT, {n}, {}, Source::kConstant).name);
  b.Node("DynamicQuantizeMatMul", inputs, {}, "com.microsoft");
  return true;
}

bool MatMulIntegerToFloat(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC"), weights = b.Type("cC");
  const Dims dims = b.Shape(2);
  const int64_t n = b.random().Between(1, 20);
  const Names x = Scaled(b, type), w = Scaled(b, weights);
  Names inputs = {Bytes(b, type, dims).name,
                  Bytes(b, weights, {dims[1], n}).name,
                  x[0],
                  w[0],
                  x[1],
                  w[1]};
  if (b.random().Chance(0.5))
    inputs.push_back(b.Operand(TensorProto::FLOAT, {n}).name);
  b.Node("MatMulIntegerToFloat", inputs, {}, "com.microsoft");
  return true;
}

bool QGemm(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("cC");
  const Dims dims = b.Shape(2);
  const int64_t n = b.random().Between(1, 20);
  const Names x = Scaled(b, type), w = Scaled(b, type);
  Names inputs = {Bytes(b, type, dims).name,         x[0], x[1],
                  Bytes(b, type, {dims[1], n}).name, w[0], w[1]};
  if (b.random().Chance(0.6)) {
    inputs.push_back(
        b.random().Chance(0.7)
            ? b.Operand(TensorProto::INT32, {n}, {-500, 500, false}).name
            : "");
    if (b.random().Chance(0.6))
      for (const std::string& name : Scaled(b, type)) inputs.push_back(name);
  }
  while (inputs.back().empty()) inputs.pop_back();
  b.Node("QGemm", inputs, {}, "com.microsoft");
  return true;
}

bool MatMulNBits(Builder& b, const Recipe& recipe) {
  const int64_t k = 32 * b.random().Between(1, 3),
                n = b.random().Between(1, 12), m = b.random().Between(1, 4);
  const int64_t block = 32, blocks = DivideRoundingUp(k, block);
  const Value x = b.Operand(TensorProto::FLOAT, {m, k});
  const Value w = b.Operand(TensorProto::UINT8, {n, blocks, block / 2},
                            {0, 255, false}, Source::kConstant);
  Names inputs = {x.name, w.name,
                  b.Operand(TensorProto::FLOAT, {n * blocks},
                            {0.01, 0.1, false}, Source::kConstant)
                      .name};
  if (b.random().Chance(0.5))
    inputs.push_back(b.Operand(TensorProto::UINT8, {n * ((blocks + 1) / 2)},
                               {0, 255, false}, Source::kConstant)
                         .name);
  b.Node("MatMulNBits", inputs,
         {{"K", static_cast<int>(k)},
          {"N", static_cast<int>(n)},
          {"bits", 4},
          {"block_size", static_cast<int>(block)}},
         "com.microsoft");
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "ConvInteger", ConvInteger},
    {"", "DequantizeLinear", QuantizeDequantize, 10},
    {"", "DequantizeLinear", Blocked, 21},
    {"", "DynamicQuantizeLinear", "f", "T[*]", 3},
    {"", "MatMulInteger", MatMulInteger},
    {"", "QLinearConv", QLinearConv},
    {"", "QLinearMatMul", QLinearMatMul},
    {"", "QuantizeLinear", QuantizeDequantize, 10},
    {"com.microsoft", "DequantizeLinear", QuantizeDequantize, 13},
    {"com.microsoft", "DynamicQuantizeMatMul", DynamicQuantizeMatMul},
    {"com.microsoft", "MatMulIntegerToFloat", MatMulIntegerToFloat},
    {"com.microsoft", "MatMulNBits", MatMulNBits},
    {"com.microsoft", "QGemm", QGemm},
    {"com.microsoft", "QLinearAdd", QLinear},
    {"com.microsoft", "QLinearAveragePool", QLinear},
    {"com.microsoft", "QLinearConcat", QLinearConcat},
    {"com.microsoft", "QLinearConv", QLinearConv},
    {"com.microsoft", "QLinearGlobalAveragePool", QLinear},
    {"com.microsoft", "QLinearLeakyRelu", QLinear},
    {"com.microsoft", "QLinearMul", QLinear},
    {"com.microsoft", "QLinearReduceMean", QLinear},
    {"com.microsoft", "QLinearSigmoid", QLinear},
    {"com.microsoft", "QLinearSoftmax", QLinear},
    {"com.microsoft", "QLinearWhere", QLinearWhere},
    {"com.microsoft", "QuantizeLinear", QuantizeDequantize, 13},
};

}  // namespace

std::span<const Recipe> QuantizationRecipes() { return kRows; }

}  // namespace ember::tests

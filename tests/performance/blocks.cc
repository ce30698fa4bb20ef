#include "tests/performance/blocks.h"

#include <cmath>
#include <utility>

#include "base/check.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;
using Attributes = std::vector<onnx::TestAttribute>;

// The quantization scale of activations that are bytes. One scale fits all
// layers, because their results are about as large as their operands.
constexpr float kScale = 0.02f;

onnx::TestAttribute IntegersAttribute(const char* name,
                                      std::vector<int64_t> values) {
  return {name, std::move(values)};
}

}  // namespace

Blocks::Blocks(std::vector<int64_t> dims) : dims_(std::move(dims)) {
  model_.Input("x", {dims_.begin(), dims_.end()});
}

int64_t Blocks::Random() {
  state_ = state_ * 1664525u + 1013904223u;
  return state_ >> 8;
}

std::string Blocks::NewName() { return "t" + std::to_string(values_++); }

std::string Blocks::Weights(const std::vector<int64_t>& dims, int64_t fan_in) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  const double scale = std::sqrt(3.0 / static_cast<double>(fan_in));
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(scale *
                               (static_cast<double>(Random()) / (1 << 23) - 1));
  }
  const std::string name = NewName();
  model_.Floats(name, dims, values);
  return name;
}

std::string Blocks::Scalar(float value) {
  const std::string name = NewName();
  model_.Floats(name, {}, {value});
  return name;
}

std::string Blocks::Scalars(int64_t count, float value) {
  const std::string name = NewName();
  model_.Floats(name, {count},
                std::vector<float>(static_cast<size_t>(count), value));
  return name;
}

std::string Blocks::Integers(const std::vector<int64_t>& values) {
  const std::string name = NewName();
  model_.Integers(name, values);
  return name;
}

std::string Blocks::Bytes(TensorProto::DataType type,
                          const std::vector<int64_t>& dims, int low, int high) {
  TensorProto& tensor = *model_.graph().add_initializer();
  tensor.set_name(NewName());
  tensor.set_data_type(type);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) {
    tensor.add_int32_data(low +
                          static_cast<int32_t>(Random() % (high - low + 1)));
  }
  return tensor.name();
}

std::string Blocks::Value(const std::string& op_type,
                          const std::vector<std::string>& operands,
                          const Attributes& attributes) {
  const std::string name = NewName();
  model_.Node(op_type, operands, {name}, attributes);
  return name;
}

Blocks& Blocks::Apply(const std::string& op_type,
                      const std::vector<std::string>& others,
                      const Attributes& attributes) {
  std::vector<std::string> operands = {last_};
  operands.insert(operands.end(), others.begin(), others.end());
  last_ = Value(op_type, operands, attributes);
  return *this;
}

Attributes Blocks::WindowOf(const Convolution& convolution) const {
  const int64_t groups = convolution.groups > 0 ? convolution.groups : dims_[1];
  const int64_t window = convolution.window, pad = window / 2;
  return {
      IntegersAttribute("kernel_shape", {window, window}),
      IntegersAttribute("strides", {convolution.stride, convolution.stride}),
      IntegersAttribute("pads", {pad, pad, pad, pad}),
      {"group", static_cast<int>(groups)}};
}

Blocks& Blocks::Conv(const Convolution& convolution) {
  const int64_t groups = convolution.groups > 0 ? convolution.groups : dims_[1];
  const int64_t window = convolution.window, in = dims_[1] / groups;
  const std::string weights =
      Weights({convolution.out, in, window, window}, in * window * window);
  const std::string bias = Weights({convolution.out}, 300);
  Apply("Conv", {weights, bias}, WindowOf(convolution));
  dims_ = {dims_[0], convolution.out, (dims_[2] - 1) / convolution.stride + 1,
           (dims_[3] - 1) / convolution.stride + 1};
  return *this;
}

Blocks& Blocks::QuantizedConv(const Convolution& convolution) {
  const int64_t groups = convolution.groups > 0 ? convolution.groups : dims_[1];
  const int64_t window = convolution.window, in = dims_[1] / groups;
  const std::vector<int64_t> dims = {convolution.out, in, window, window};
  const std::string weights = Bytes(TensorProto::INT8, dims, -127, 127);
  const std::string scale = Scalar(kScale);
  const std::string zero = Bytes(TensorProto::UINT8, {}, 128, 128);
  const std::string weight_scales = Scalars(
      convolution.out,
      static_cast<float>(
          std::sqrt(3.0 / static_cast<double>(in * window * window)) / 127));
  const std::string weight_zeros =
      Bytes(TensorProto::INT8, {convolution.out}, 0, 0);
  const std::string bias =
      Bytes(TensorProto::INT32, {convolution.out}, -1000, 1000);
  Apply("QLinearConv",
        {scale, zero, weights, weight_scales, weight_zeros, scale, zero, bias},
        WindowOf(convolution));
  dims_ = {dims_[0], convolution.out, (dims_[2] - 1) / convolution.stride + 1,
           (dims_[3] - 1) / convolution.stride + 1};
  return *this;
}

Blocks& Blocks::Quantize() {
  return Apply("QuantizeLinear",
               {Scalar(kScale), Bytes(TensorProto::UINT8, {}, 128, 128)});
}

Blocks& Blocks::Dequantize() {
  return Apply("DequantizeLinear",
               {Scalar(kScale), Bytes(TensorProto::UINT8, {}, 128, 128)});
}

Blocks& Blocks::Shuffle(int64_t groups) {
  Apply("Reshape",
        {Integers({dims_[0], groups, dims_[1] / groups, dims_[2], dims_[3]})});
  Apply("Transpose", {}, {IntegersAttribute("perm", {0, 2, 1, 3, 4})});
  return Apply("Reshape", {Integers(dims_)});
}

std::string Blocks::Product(const std::string& x, int64_t in, int64_t out) {
  const std::string product = Value("MatMul", {x, Weights({in, out}, in)});
  return Value("Add", {product, Weights({out}, 300)});
}

Blocks& Blocks::MatMul(int64_t out) {
  last_ = Product(last_, dims_.back(), out);
  dims_.back() = out;
  return *this;
}

Blocks& Blocks::LayerNormalization() {
  return Apply("LayerNormalization",
               {Scalars(dims_.back(), 1), Scalars(dims_.back(), 0.1f)},
               {{"axis", -1}});
}

Blocks& Blocks::SelfAttention(int64_t heads) {
  EMBER_CHECK(dims_.size() == 2) << "tokens, width";
  const int64_t tokens = dims_[0], width = dims_[1], each = width / heads;
  const auto heads_of = [&](const std::string& rows,
                            std::vector<int64_t> order) {
    const std::string split =
        Value("Reshape", {rows, Integers({tokens, heads, each})});
    return Value("Transpose", {split},
                 {IntegersAttribute("perm", std::move(order))});
  };
  const std::string query = heads_of(Product(last_, width, width), {1, 0, 2});
  const std::string key = heads_of(Product(last_, width, width), {1, 2, 0});
  const std::string value = heads_of(Product(last_, width, width), {1, 0, 2});
  const std::string scores = Value(
      "Mul",
      {Value("MatMul", {query, key}),
       Scalar(static_cast<float>(1 / std::sqrt(static_cast<double>(each))))});
  const std::string shares = Value("Softmax", {scores}, {{"axis", -1}});
  const std::string mixed = Value("MatMul", {shares, value});
  const std::string rows = Value(
      "Reshape",
      {Value("Transpose", {mixed}, {IntegersAttribute("perm", {1, 0, 2})}),
       Integers({tokens, width})});
  last_ = Product(rows, width, width);
  return *this;
}

Blocks& Blocks::Lstm(int64_t hidden) {
  const int64_t width = dims_.back(), gates = 4 * hidden;
  const std::string input_weights = Weights({1, gates, width}, width);
  const std::string state_weights = Weights({1, gates, hidden}, hidden);
  const std::string bias = Weights({1, 2 * gates}, 300);
  Apply("LSTM", {input_weights, state_weights, bias},
        {{"hidden_size", static_cast<int>(hidden)}});
  dims_ = {dims_[0], 1, 1, hidden};
  return *this;
}

Blocks& Blocks::MaxPool() {
  Apply("MaxPool", {},
        {IntegersAttribute("kernel_shape", {3, 3}),
         IntegersAttribute("strides", {2, 2}),
         IntegersAttribute("pads", {1, 1, 1, 1})});
  dims_[2] = (dims_[2] - 1) / 2 + 1;
  dims_[3] = (dims_[3] - 1) / 2 + 1;
  return *this;
}

Blocks& Blocks::GlobalAveragePool() {
  dims_[2] = dims_[3] = 1;
  return Apply("GlobalAveragePool");
}

Blocks& Blocks::Relu() { return Apply("Relu"); }

Blocks& Blocks::Relu6() { return Apply("Clip", {Scalar(0), Scalar(6)}); }

Blocks& Blocks::Gelu() {
  const std::string part = Value(
      "Erf",
      {Value("Mul", {last_, Scalar(static_cast<float>(std::sqrt(0.5)))})});
  const std::string weight = Value("Add", {part, Scalar(1)});
  return Apply("Mul", {Value("Mul", {weight, Scalar(0.5f)})});
}

Blocks& Blocks::Add(const std::string& earlier) {
  return Apply("Add", {earlier});
}

onnx::ModelBuilder Blocks::Finish() {
  model_.Output(last_);
  return std::move(model_);
}

}  // namespace ember::tests

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

bool Det(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 5);
  Dims dims = b.Shape(b.random().Between(0, 2));
  for (int64_t& dim : dims) dim = std::min<int64_t>(dim, 4);
  dims.insert(dims.end(), {n, n});
  b.Node("Det", {b.Operand(TensorProto::FLOAT, dims).name});
  return true;
}

bool Dft(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 12), batch = b.random().Between(1, 3);
  const bool is_complex = b.random().Chance(0.4),
             is_inverse = is_complex && b.random().Chance(0.4);
  const Value x = b.Operand(b.Type("ffd"), {batch, n, is_complex ? 2 : 1});
  Names inputs = {x.name};
  Attributes attributes;
  if (!is_complex && b.random().Chance(0.5))
    attributes.emplace_back("onesided", 1);
  int64_t length = n;
  if (b.random().Chance(0.3)) {
    length = b.random().Between(1, 14);
    inputs.push_back(b.Integer(length));
  }
  // The comparison is exact only if the length is a power of two: otherwise
  // ONNX Runtime divides an inverse transform of f64 by the length in f32,
  // which has an error of 1e-8 that Ember's result does not have.
  const bool is_exact =
      x.type != TensorProto::DOUBLE || (length & (length - 1)) == 0;
  attributes.emplace_back("inverse", is_inverse && is_exact ? 1 : 0);
  if (b.opset() < 20) {
    attributes.emplace_back("axis", 1);
  } else if (b.random().Chance(0.5)) {
    if (inputs.size() == 1) inputs.emplace_back();
    inputs.push_back(b.Integer(b.random().Chance(0.5) ? 1 : -2));
  }
  b.Node("DFT", inputs, attributes);
  return true;
}

bool Stft(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(16, 40),
                frame = b.random().Between(4, 12),
                step = b.random().Between(1, 6);
  const Value x =
      b.Operand(TensorProto::FLOAT, {b.random().Between(1, 2), n, 1});
  Names inputs = {x.name, b.Integer(step)};
  if (b.random().Chance(0.6)) {
    inputs.push_back(b.Operand(TensorProto::FLOAT, {frame}).name);
    if (b.random().Chance(0.5)) inputs.push_back(b.Integer(frame));
  } else {
    inputs.emplace_back();
    inputs.push_back(b.Integer(frame));
  }
  b.Node("STFT", inputs, {{"onesided", b.random().Chance(0.6) ? 1 : 0}});
  return true;
}

bool WindowFunction(Builder& b, const Recipe& recipe) {
  Attributes attributes = {{"periodic", b.random().Chance(0.5) ? 1 : 0}};
  // Windows of f64 are not generated, because ONNX Runtime computes them in
  // f32. Zeros of a window are about 1e-8 there, so no node should divide by
  // them or use their sign.
  const std::string window =
      b.Node(std::string(recipe.name),
             {b.Integer(b.random().Between(4, 20), b.Type("li"))}, attributes);
  b.Hide(window);
  b.Node("Add", {window, b.Scalar(TensorProto::FLOAT, 0.25)});
  return true;
}

bool MelWeights(Builder& b, const Recipe& recipe) {
  const int64_t size = 2 * b.random().Between(4, 20),
                rate = b.random().Between(1000, 16000);
  b.Node("MelWeightMatrix",
         {b.Integer(b.random().Between(1, 8)), b.Integer(size), b.Integer(rate),
          b.Scalar(TensorProto::FLOAT, b.random().Real(0, 100)),
          b.Scalar(TensorProto::FLOAT,
                   static_cast<double>(rate) / 2 - b.random().Real(0, 100))});
  return true;
}

bool Fft(Builder& b, const Recipe& recipe) {
  const int64_t n = 2 * b.random().Between(1, 8);
  const bool is_inverse = recipe.name == "Irfft";
  const Value x =
      b.Operand(TensorProto::FLOAT,
                is_inverse ? Dims{b.random().Between(1, 3), n / 2 + 1, 2}
                           : Dims{b.random().Between(1, 3), n});
  b.Node(std::string(recipe.name), {x.name},
         {{"signal_ndim", 1}, {"normalized", 0}, {"onesided", 1}},
         "com.microsoft");
  return true;
}

// Adds an operator that updates weights in training (Adam, Adagrad, Momentum):
// the learning rate R and the step T are scalars; the weights X, gradients G
// and sums have the same shape.
bool Momentum(Builder& b, const Recipe& recipe) {
  const Dims dims = b.Shape(b.random().Between(0, 3));
  Names inputs = {b.Scalar(TensorProto::FLOAT, 0.1),
                  b.Integer(b.random().Between(0, 3))};
  const int count = recipe.name == "Adam" ? 4 : 3;
  for (int i = 0; i < count; ++i)
    inputs.push_back(b.Operand(TensorProto::FLOAT, dims, {0.1, 2, false}).name);
  Attributes attributes;
  if (recipe.name == "Momentum")
    attributes = {{"alpha", 0.9},
                  {"beta", 1.0},
                  {"norm_coefficient", 0.01},
                  {"mode", b.random().Chance(0.5) ? "standard" : "nesterov"}};
  b.Nodes(std::string(recipe.name), inputs, count - 1, attributes,
          std::string(recipe.domain));
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "BlackmanWindow", WindowFunction},
    {"", "DFT", Dft},
    {"", "Det", Det},
    {"", "HammingWindow", WindowFunction},
    {"", "HannWindow", WindowFunction},
    {"", "MelWeightMatrix", MelWeights},
    {"", "STFT", Stft},
    {"ai.onnx.preview.training", "Adagrad", Momentum},
    {"ai.onnx.preview.training", "Adam", Momentum},
    {"ai.onnx.preview.training", "Momentum", Momentum},
    {"com.microsoft", "Irfft", Fft},
    {"com.microsoft", "Rfft", Fft},
};

}  // namespace

std::span<const Recipe> SignalRecipes() { return kRows; }

}  // namespace ember::tests

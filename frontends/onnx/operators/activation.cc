// Imports activation functions and the softmax family.
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::onnx {
namespace {

void ImportLeakyRelu(NodeContext& c) {
  c.SetOutput(0, LeakyRelu(c.Input(0), c.Float("alpha", 0.01)));
}

// True if slopes [C] of a PRelu belong to the channels of x[N, C, …], dim 1.
// The specification broadcasts them along the last dim, but exporters of opset
// 6, and some later ones, write [C] in place of [C, 1, 1]. If an open dim hides
// which one is meant, the specification is followed.
bool IsPerChannel(NodeContext& c, Tensor slope, Tensor x) {
  const Dim& count = slope.dim(0);
  const Dim& last = x.dim(-1);
  if (count == Dim(1)) return false;
  if (c.opset() < 7) return true;
  if (count == last) return false;
  return count == x.dim(1) || (count.is_constant() && last.is_constant());
}

void ImportPRelu(NodeContext& c) {
  Tensor x = c.Input(0);
  Tensor slope = c.Input(1);
  if (slope.rank() == 1 && x.rank() > 2 && IsPerChannel(c, slope, x))
    slope = AlongAxis(slope, 1, x.rank());
  c.SetOutput(0, LeakyRelu(x, slope));
}

void ImportElu(NodeContext& c) {
  c.SetOutput(0, Elu(c.Input(0), c.Float("alpha", 1.0)));
}

void ImportCelu(NodeContext& c) {
  c.SetOutput(0, Celu(c.Input(0), c.Float("alpha", 1.0)));
}

void ImportSelu(NodeContext& c) {
  // In opset 1 the specification states rounded defaults of alpha and gamma;
  // later opsets state exact ones, which are rounded to f32.
  const bool is_old = c.opset() < 6;
  const double alpha =
      c.Float("alpha", is_old ? 1.6732 : static_cast<float>(ops::kSeluAlpha));
  const double gamma =
      c.Float("gamma", is_old ? 1.0507 : static_cast<float>(ops::kSeluScale));
  c.SetOutput(0, ScaledElu(c.Input(0), alpha, gamma));
}

void ImportGelu(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::string approximate = c.String("approximate", "none");
  if (approximate == "none") return c.SetOutput(0, Gelu(x));
  if (approximate == "tanh") return c.SetOutput(0, TanhGelu(x));
  c.FailInvalid("attribute 'approximate': expected none or tanh, found '" +
                approximate + "'");
}

void ImportHardSigmoid(NodeContext& c) {
  c.SetOutput(
      0, HardSigmoid(c.Input(0), c.Float("alpha", 0.2), c.Float("beta", 0.5)));
}

void ImportSwish(NodeContext& c) {
  c.SetOutput(0, Swish(c.Input(0), c.Float("alpha", 1.0)));
}

void ImportSwiGlu(NodeContext& c) {
  c.SetOutput(0, Swish(c.Input(0), c.Float("alpha", 1.0)) * c.Input(1));
}

void ImportShrink(NodeContext& c) {
  c.SetOutput(0,
              Shrink(c.Input(0), c.Float("lambd", 0.5), c.Float("bias", 0.0)));
}

void ImportThresholdedRelu(NodeContext& c) {
  c.SetOutput(0, ThresholdedRelu(c.Input(0), c.Float("alpha", 1.0)));
}

// Imports an operator of the softmax family. Before opset 13 it normalizes over
// all dims from `axis` on, which are therefore flattened into one.
template <typename Compute>
void ImportSoftmaxLike(NodeContext& c, const Compute& compute) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(0, 1)) return;
  const int axis = c.Axis(c.Integer("axis", c.opset() < 13 ? 1 : -1), x.rank());
  if (c.opset() >= 13 || axis == x.rank() - 1)
    return c.SetOutput(0, compute(x, axis));
  const Shape& shape = x.shape();
  const Dim rows = ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const Dim columns = ElementCount(Shape(shape.begin() + axis, shape.end()));
  c.SetOutput(0, Reshape(compute(Reshape(x, {rows, columns}), 1), shape));
}

void ImportSoftmax(NodeContext& c) {
  ImportSoftmaxLike(c, [](Tensor x, int axis) { return Softmax(x, axis); });
}

void ImportLogSoftmax(NodeContext& c) {
  ImportSoftmaxLike(c, [](Tensor x, int axis) { return LogSoftmax(x, axis); });
}

// Returns a tensor that is 1 at the first of the largest elements along an
// axis, and 0 elsewhere.
Tensor Hardmax(Tensor x, int axis) {
  Tensor largest = Apply("arg_reduce", {x},
                         {{"mode", std::string("maximum")},
                          {"axis", int64_t{axis}},
                          {"last", int64_t{0}}});
  Tensor positions = AlongAxis(
      IotaVector(x.builder(), x.dim(axis), DType::kI64), axis, x.rank());
  return Cast(Equal(positions, Unsqueeze(largest, {axis})), x.dtype());
}

void ImportHardmax(NodeContext& c) { ImportSoftmaxLike(c, Hardmax); }

constexpr OperatorRow kRows[] = {
    {"Celu", 12, 1, 1, ImportCelu},
    {"Elu", 1, 1, 1, ImportElu},
    {"Gelu", 20, 1, 1, ImportGelu},
    {"Gelu", 1, 1, 1, ImportGelu, "com.microsoft"},
    {"HardSigmoid", 1, 1, 1, ImportHardSigmoid},
    {"HardSwish", 14, 1, 1, ImportScalar<ops::HardSwish>},
    {"Hardmax", 1, 1, 1, ImportHardmax},
    {"LeakyRelu", 1, 1, 1, ImportLeakyRelu},
    {"LogSoftmax", 1, 1, 1, ImportLogSoftmax},
    {"Mish", 18, 1, 1, ImportScalar<ops::Mish>},
    {"PRelu", 1, 2, 2, ImportPRelu},
    {"Relu", 1, 1, 1, ImportScalar<ops::Relu>},
    {"Selu", 1, 1, 1, ImportSelu},
    {"Shrink", 9, 1, 1, ImportShrink},
    {"Sigmoid", 1, 1, 1, ImportScalar<ops::Sigmoid>},
    {"Softmax", 1, 1, 1, ImportSoftmax},
    {"Softplus", 1, 1, 1, ImportScalar<ops::Softplus>},
    {"Softsign", 1, 1, 1, ImportScalar<ops::Softsign>},
    {"SwiGLU", 28, 2, 2, ImportSwiGlu},
    {"Swish", 24, 1, 1, ImportSwish},
    {"ThresholdedRelu", 1, 1, 1, ImportThresholdedRelu},
};

}  // namespace

std::span<const OperatorRow> ActivationOperators() { return kRows; }

}  // namespace ember::onnx

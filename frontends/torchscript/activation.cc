// Activations of torch.nn.
#include <cmath>
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

Tensor Relu(Call& c) { return ops::Relu(c.tensor("self")); }
Tensor Relu6(Call& c) { return ops::Minimum(ops::Relu(c.tensor("self")), 6); }
Tensor LeakyRelu(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Select(ops::Less(x, 0), x * c.number("negative_slope"), x);
}
// Imports rrelu. In evaluation its slope is the middle of its bounds.
Tensor Rrelu(Call& c) {
  const Tensor x = c.tensor("self");
  const double slope = (c.number("lower") + c.number("upper")) / 2;
  return ops::Select(ops::Less(x, 0), x * slope, x);
}
Tensor Prelu(Call& c) {
  const Tensor x = c.tensor("self");
  Tensor weight = c.tensor("weight");
  if (!c.ok()) return x;
  if (weight.rank() == 1 && weight.dim(0) != Dim(1) && x.rank() > 1)
    weight = ops::AlongAxis(weight, 1, x.rank());
  return ops::Select(ops::Less(x, 0), x * weight, x);
}
Tensor Elu(Call& c) {
  const Tensor x = c.tensor("self");
  const double scale = c.number("scale");
  const Tensor negative =
      ops::Expm1(x * c.number("input_scale")) * (c.number("alpha") * scale);
  return ops::Select(ops::Less(0, x), x * scale, negative);
}
Tensor Selu(Call& c) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  const Tensor x = c.tensor("self");
  return ops::Select(ops::Less(0, x), x * kScale,
                     ops::Expm1(x) * (kAlpha * kScale));
}
Tensor Celu(Call& c) {
  const Tensor x = c.tensor("self");
  const double alpha = c.number("alpha");
  return ops::Select(ops::Less(0, x), x, ops::Expm1(x / alpha) * alpha);
}
Tensor Sigmoid(Call& c) { return ops::Sigmoid(AsFloat(c.tensor("self"))); }
Tensor LogSigmoid(Call& c) { return -ops::Softplus(-c.tensor("self")); }
Tensor Silu(Call& c) {
  const Tensor x = c.tensor("self");
  return x * ops::Sigmoid(x);
}
Tensor Mish(Call& c) {
  const Tensor x = c.tensor("self");
  return x * ops::Tanh(ops::Softplus(x));
}
Tensor Gelu(Call& c) {
  const Tensor x = c.tensor("self");
  return c.text("approximate") == "tanh" ? ops::TanhGelu(x) : ops::Gelu(x);
}
Tensor Hardtanh(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Minimum(ops::Maximum(x, c.number("min_val")),
                      c.number("max_val"));
}
Tensor HardGate(const Tensor& x) {
  return ops::Minimum(ops::Maximum(x + 3.0, 0), 6) / 6.0;
}
Tensor Hardsigmoid(Call& c) { return HardGate(c.tensor("self")); }
Tensor Hardswish(Call& c) {
  const Tensor x = c.tensor("self");
  return x * HardGate(x);
}
Tensor Hardshrink(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Select(ops::LessEqual(ops::Absolute(x), c.number("lambd")),
                     x.Like(0), x);
}
Tensor Softshrink(Call& c) {
  const Tensor x = c.tensor("self");
  const double bound = c.number("lambd");
  return ops::Select(ops::Less(bound, x), x - bound,
                     ops::Select(ops::Less(x, -bound), x + bound, x.Like(0)));
}
Tensor Softplus(Call& c) {
  const Tensor x = c.tensor("self");
  const double beta = c.number("beta");
  const Tensor scaled = x * beta;
  return ops::Select(ops::Less(c.number("threshold"), scaled), x,
                     ops::Softplus(scaled) / beta);
}
Tensor Softsign(Call& c) {
  const Tensor x = c.tensor("self");
  return x / (1.0 + ops::Absolute(x));
}
Tensor Tanhshrink(Call& c) {
  const Tensor x = c.tensor("self");
  return x - ops::Tanh(x);
}
Tensor Threshold(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Select(ops::LessEqual(x, c.number("threshold")),
                     x.Like(c.number("value")), x);
}
// Returns the first half along an axis, multiplied by the sigmoid of the second
// half.
Tensor Glu(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return x;
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return x;
  const Dim half = FloorDivide(x.dim(axis), Dim(2));
  return ops::SliceAxis(x, axis, Dim(0), half) *
         ops::Sigmoid(ops::SliceAxis(x, axis, half, half));
}

Tensor SoftmaxInput(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  return ops::Cast(x, c.dtype("dtype", x.is_float() ? x.dtype() : DType::kF32));
}
Tensor Softmax(Call& c) {
  const Tensor x = SoftmaxInput(c);
  const int axis = c.axis("dim", x.rank());
  if (!c.ok() || x.rank() == 0) return c.ok() ? x.Like(1) : x;
  return ops::Softmax(x, axis);
}
Tensor LogSoftmax(Call& c) {
  const Tensor x = SoftmaxInput(c);
  const int axis = c.axis("dim", x.rank());
  if (!c.ok() || x.rank() == 0) return c.ok() ? x.Like(0) : x;
  return ops::LogSoftmax(x, axis);
}
Tensor Softmin(Call& c) {
  const Tensor x = SoftmaxInput(c);
  const int axis = c.axis("dim", x.rank());
  return c.ok() ? ops::Softmax(-x, axis) : x;
}

constexpr OperatorRow kRows[] = {
    {"relu(Tensor self)", Relu},
    {"relu6(Tensor self)", Relu6},
    {"leaky_relu(Tensor self, Scalar negative_slope=0.01)", LeakyRelu},
    {"rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
     "bool training=False, Generator? generator=None)",
     Rrelu},
    {"prelu(Tensor self, Tensor weight)", Prelu},
    {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)",
     Elu},
    {"selu(Tensor self)", Selu},
    {"celu(Tensor self, Scalar alpha=1)", Celu},
    {"sigmoid(Tensor self)", Sigmoid},
    {"special_expit(Tensor self)", Sigmoid},
    {"log_sigmoid(Tensor self)", LogSigmoid},
    {"silu(Tensor self)", Silu},
    {"mish(Tensor self)", Mish},
    {"gelu(Tensor self, *, str approximate='none')", Gelu},
    {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1)", Hardtanh},
    {"hardsigmoid(Tensor self)", Hardsigmoid},
    {"hardswish(Tensor self)", Hardswish},
    {"hardshrink(Tensor self, Scalar lambd=0.5)", Hardshrink},
    {"softshrink(Tensor self, Scalar lambd=0.5)", Softshrink},
    {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20)", Softplus},
    {"softsign(Tensor self)", Softsign},
    {"tanhshrink(Tensor self)", Tanhshrink},
    {"threshold(Tensor self, Scalar threshold, Scalar value)", Threshold},
    {"glu(Tensor self, int dim=-1)", Glu},
    {"softmax(Tensor self, int dim, ScalarType? dtype=None)", Softmax},
    {"_softmax(Tensor self, int dim, bool half_to_float, "
     "ScalarType? dtype=None)",
     Softmax},
    {"log_softmax(Tensor self, int dim, ScalarType? dtype=None)", LogSoftmax},
    {"_log_softmax(Tensor self, int dim, bool half_to_float, "
     "ScalarType? dtype=None)",
     LogSoftmax},
    {"softmin(Tensor self, int dim, ScalarType? dtype=None)", Softmin},
};

}  // namespace

std::span<const OperatorRow> ActivationRows() { return kRows; }

}  // namespace ember::torchscript

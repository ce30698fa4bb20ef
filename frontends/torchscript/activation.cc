// Activations of torch.nn.
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

template <Tensor (*kFunction)(Tensor)>
Tensor Scalar(Call& c) {
  return kFunction(c.tensor("self"));
}
Tensor LeakyRelu(Call& c) {
  return ops::LeakyRelu(c.tensor("self"), c.number("negative_slope"));
}
// Imports rrelu in evaluation mode, where the slope is not random but the
// middle of its two bounds.
Tensor Rrelu(Call& c) {
  const double slope = (c.number("lower") + c.number("upper")) / 2;
  return ops::LeakyRelu(c.tensor("self"), slope);
}
Tensor Prelu(Call& c) {
  const Tensor x = c.tensor("self");
  Tensor weight = c.tensor("weight");
  if (!c.ok()) return x;
  if (weight.rank() == 1 && weight.dim(0) != Dim(1) && x.rank() > 1)
    weight = ops::AlongAxis(weight, 1, x.rank());
  return ops::LeakyRelu(x, weight);
}
// Imports elu. The usual case is input_scale = 1, which has a function in ops.
Tensor Elu(Call& c) {
  const Tensor x = c.tensor("self");
  const double scale = c.number("scale"), input_scale = c.number("input_scale");
  if (input_scale == 1) return ops::ScaledElu(x, c.number("alpha"), scale);
  return ops::Select(ops::Less(x, 0),
                     ops::Expm1(x * input_scale) * (c.number("alpha") * scale),
                     x * scale);
}
Tensor Celu(Call& c) { return ops::Celu(c.tensor("self"), c.number("alpha")); }
Tensor Sigmoid(Call& c) { return ops::Sigmoid(AsFloat(c.tensor("self"))); }
Tensor Gelu(Call& c) {
  const Tensor x = c.tensor("self");
  return c.text("approximate") == "tanh" ? ops::TanhGelu(x) : ops::Gelu(x);
}
Tensor Hardtanh(Call& c) {
  return ops::Clip(c.tensor("self"), c.number("min_val"), c.number("max_val"));
}
Tensor Hardshrink(Call& c) {
  return ops::HardShrink(c.tensor("self"), c.number("lambd"));
}
Tensor Softshrink(Call& c) {
  const double bound = c.number("lambd");
  return ops::Shrink(c.tensor("self"), bound, bound);
}
Tensor Softplus(Call& c) {
  const Tensor x = c.tensor("self");
  const double beta = c.number("beta");
  const Tensor scaled = x * beta;
  return ops::Select(ops::Less(c.number("threshold"), scaled), x,
                     ops::Softplus(scaled) / beta);
}
Tensor Threshold(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Select(ops::LessEqual(x, c.number("threshold")),
                     x.Like(c.number("value")), x);
}
// Imports glu: the first half of x along an axis, times the sigmoid of the
// second half.
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
    {"relu(Tensor self)", Scalar<ops::Relu>},
    {"relu6(Tensor self)", Scalar<ops::Relu6>},
    {"leaky_relu(Tensor self, Scalar negative_slope=0.01)", LeakyRelu},
    {"rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
     "bool training=False, Generator? generator=None)",
     Rrelu},
    {"prelu(Tensor self, Tensor weight)", Prelu},
    {"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)",
     Elu},
    {"selu(Tensor self)", Scalar<ops::Selu>},
    {"celu(Tensor self, Scalar alpha=1)", Celu},
    {"sigmoid(Tensor self)", Sigmoid},
    {"special_expit(Tensor self)", Sigmoid},
    {"log_sigmoid(Tensor self)", Scalar<ops::LogSigmoid>},
    {"silu(Tensor self)", Scalar<ops::Silu>},
    {"mish(Tensor self)", Scalar<ops::Mish>},
    {"gelu(Tensor self, *, str approximate='none')", Gelu},
    {"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1)", Hardtanh},
    {"hardsigmoid(Tensor self)", Scalar<ops::HardSigmoid6>},
    {"hardswish(Tensor self)", Scalar<ops::HardSwish>},
    {"hardshrink(Tensor self, Scalar lambd=0.5)", Hardshrink},
    {"softshrink(Tensor self, Scalar lambd=0.5)", Softshrink},
    {"softplus(Tensor self, Scalar beta=1, Scalar threshold=20)", Softplus},
    {"softsign(Tensor self)", Scalar<ops::Softsign>},
    {"tanhshrink(Tensor self)", Scalar<ops::TanhShrink>},
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

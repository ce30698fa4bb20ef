#include "frontends/onnx/contrib/contrib.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/blocked_product.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::onnx {

int64_t PositiveAttribute(NodeContext& c, std::string_view name) {
  const int64_t value = c.Integer(name, 0);
  if (value >= 1) return value;
  c.FailInvalid("attribute '" + std::string(name) +
                "': expected at least 1, found " + std::to_string(value));
  return 1;
}

Tensor UnpackBits(Tensor packed, int64_t bits, bool low_first) {
  if (bits == 8 || !packed.HasDim(-1)) return packed;
  Tensor parts = ops::UnpackParts(packed, bits);
  if (!low_first) parts = Reverse(parts, parts.rank() - 2);
  std::vector<int64_t> order(static_cast<size_t>(parts.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 2], order.back());
  Shape shape = packed.shape();
  shape.back() = shape.back() * Dim(8 / bits);
  return Reshape(Transpose(parts, order), shape);
}

Tensor FusedActivation(NodeContext& c, Tensor y, const std::string& activation,
                       const std::vector<std::optional<double>>& parameters) {
  auto parameter = [&](size_t i, double otherwise) {
    return i < parameters.size() ? parameters[i].value_or(otherwise)
                                 : otherwise;
  };
  if (activation.empty()) return y;
  if (activation == "Relu") return Relu(y);
  if (activation == "Sigmoid") return Sigmoid(y);
  if (activation == "Tanh") return Tanh(y);
  if (activation == "Softplus") return Softplus(y);
  if (activation == "Softsign") return Softsign(y);
  if (activation == "Gelu") return Gelu(y);
  if (activation == "LeakyRelu") return LeakyRelu(y, parameter(0, 0.01));
  if (activation == "Elu") return Elu(y, parameter(0, 1));
  if (activation == "ThresholdedRelu")
    return ThresholdedRelu(y, parameter(0, 1));
  if (activation == "ScaledTanh")
    return ScaledTanh(y, parameter(0, 1), parameter(1, 1));
  if (activation == "ParametricSoftplus")
    return ParametricSoftplus(y, parameter(0, 1), parameter(1, 1));
  if (activation == "Selu") {
    return ScaledElu(y, parameter(0, static_cast<float>(ops::kSeluAlpha)),
                     parameter(1, static_cast<float>(ops::kSeluScale)));
  }
  if (activation == "Affine")
    return Linear(y, parameter(0, 1), parameter(1, 0));
  if (activation == "Clip") return Clip(y, parameter(0, 0), parameter(1, 6));
  if (activation == "HardSwish") return HardSwish(y);
  if (activation == "HardSigmoid")
    return HardSigmoid(y, parameter(0, 0.2), parameter(1, 0.5));
  c.FailUnsupported("activation '" + activation + "' is not supported");
  return y;
}

}  // namespace ember::onnx

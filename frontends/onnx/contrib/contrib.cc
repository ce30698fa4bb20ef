#include "frontends/onnx/contrib/contrib.h"

#include <string>

#include "frontends/ops/compositions.h"

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
  const int axis = packed.rank();
  const int64_t count = 8 / bits;
  const double mask = static_cast<double>((1 << bits) - 1);
  Tensor index = IotaVector(packed.builder(), Dim(count), DType::kU8);
  if (!low_first)
    index = Cast(count - 1.0 - Cast(index, DType::kF32), DType::kU8);
  Tensor shift = index * static_cast<double>(bits);
  Tensor wide = Unsqueeze(packed, {axis});
  Tensor values = Binary(Opcode::kAnd, Binary(Opcode::kShiftRight, wide, shift),
                         wide.Like(mask));
  Shape shape = packed.shape();
  shape.back() = shape.back() * Dim(count);
  return Reshape(values, shape);
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
  if (activation == "Softsign") return y / (Absolute(y) + 1.0);
  if (activation == "Gelu") return Gelu(y);
  if (activation == "LeakyRelu")
    return Select(Less(y, 0), y * parameter(0, 0.01), y);
  if (activation == "Elu")
    return Select(Less(y, 0), Expm1(y) * parameter(0, 1), y);
  if (activation == "ThresholdedRelu")
    return Select(Less(parameter(0, 1), y), y, y.Like(0));
  if (activation == "ScaledTanh")
    return Tanh(y * parameter(1, 1)) * parameter(0, 1);
  if (activation == "ParametricSoftplus")
    return Softplus(y * parameter(1, 1)) * parameter(0, 1);
  if (activation == "Selu") {
    return Select(LessEqual(y, 0), Expm1(y) * parameter(0, 1.67326319), y) *
           parameter(1, 1.05070102);
  }
  if (activation == "Affine") return y * parameter(0, 1) + parameter(1, 0);
  if (activation == "Clip")
    return Minimum(Maximum(y, parameter(0, 0)), parameter(1, 6));
  if (activation == "HardSwish")
    return y * Maximum(Minimum(y * (1.0 / 6) + 0.5, 1), 0);
  if (activation == "HardSigmoid") {
    return Maximum(Minimum(y * parameter(0, 0.2) + parameter(1, 0.5), 1), 0);
  }
  c.FailUnsupported("activation '" + activation + "' is not supported");
  return y;
}

}  // namespace ember::onnx

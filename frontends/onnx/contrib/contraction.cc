// com.microsoft: matrix products with transposes, activations and scales fused
// in; mixtures of experts (moe.cc).
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/convolution.h"
#include "frontends/onnx/operators/quantization.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Transposes an operand before it is multiplied. `batch`: moves dim 0 behind
// the other batch dims; `last`: then swaps the last two dims.
Tensor TransposeOperand(Tensor x, bool batch, bool last) {
  const int rank = x.rank();
  if (rank < 2) return x;
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  if (batch) {
    std::rotate(permutation.begin(), permutation.begin() + 1,
                permutation.end() - 1);
  }
  if (last) std::swap(permutation[rank - 2], permutation[rank - 1]);
  return Transpose(x, std::move(permutation));
}

Tensor FusedProduct(NodeContext& c) {
  Tensor a = TransposeOperand(c.Input(0), c.Integer("transBatchA", 0) != 0,
                              c.Integer("transA", 0) != 0);
  Tensor b = TransposeOperand(c.Input(1), c.Integer("transBatchB", 0) != 0,
                              c.Integer("transB", 0) != 0);
  const double alpha = c.Float("alpha", 1.0);
  Tensor y = MatMul(a, b);
  return alpha == 1.0 ? y : y * alpha;
}

std::optional<double> OptionalFloat(NodeContext& c, std::string_view name) {
  if (!c.HasAttribute(name)) return std::nullopt;
  return c.Float(name, 0);
}

Tensor ActivationByAttributes(NodeContext& c, Tensor y) {
  const std::string activation = c.String("activation", "");
  if (activation == "Softmax") {
    const int axis = c.Axis(c.Integer("activation_axis", -1), y.rank());
    return Softmax(y, axis);
  }
  return FusedActivation(c, y, activation,
                         {OptionalFloat(c, "activation_alpha"),
                          OptionalFloat(c, "activation_beta"),
                          OptionalFloat(c, "activation_gamma")});
}

void ImportFusedMatMul(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, FusedProduct(c));
}

void ImportFusedMatMulActivation(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, ActivationByAttributes(c, FusedProduct(c)));
}

void ImportFusedGemm(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  Tensor y = FusedProduct(c);
  const double beta = c.Float("beta", 1.0);
  if (Tensor addend = c.Input(2); addend && beta != 0)
    y = y + (beta == 1.0 ? addend : addend * beta);
  c.SetOutput(0, ActivationByAttributes(c, y));
}

// Imports MatMulInteger16: products of 16-bit integers are summed in 32 bits.
void ImportMatMulInteger16(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const bool is_unsigned =
      !IsSigned(c.Input(0).dtype()) && !IsSigned(c.Input(1).dtype());
  const DType type = is_unsigned ? DType::kU32 : DType::kI32;
  c.SetOutput(0, MatMul(Cast(c.Input(0), type), Cast(c.Input(1), type)));
}

bool IsPerElement(Tensor parameter) {
  return parameter && parameter.rank() == 1 && parameter.dim(0) != Dim(1);
}

// Returns a[…, k] b[…, k, n] of quantized operands, as f32. Scales and zero
// points of b may be per column. Those of `a` may be per element of k.
Tensor QuantizedProduct(Tensor a, Tensor a_scale, Tensor a_zero, Tensor b,
                        Tensor b_scale, Tensor b_zero) {
  if (IsPerElement(a_scale)) {
    Tensor wide = Dequantize(a, a_scale, a_zero);
    return MatMul(wide, Cast(Centered(b, b_zero), DType::kF32)) *
           Cast(b_scale, DType::kF32);
  }
  Tensor product = MatMul(Centered(a, a_zero), Centered(b, b_zero));
  return Cast(product, DType::kF32) *
         (Cast(a_scale, DType::kF32) * Cast(b_scale, DType::kF32));
}

void ImportMatMulIntegerToFloat(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  Tensor y = QuantizedProduct(c.Input(0), c.Input(2), c.Input(4), c.Input(1),
                              c.Input(3), c.Input(5));
  if (c.Input(6)) y = y + Cast(c.Input(6), DType::kF32);
  c.SetOutput(0, Cast(y, c.Input(3).dtype()));
}

void ImportDynamicQuantizeMatMul(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const DynamicallyQuantized a = QuantizeDynamically(c.Input(0));
  Tensor y = QuantizedProduct(a.values, a.scale, a.zero_point, c.Input(1),
                              c.Input(2), c.Input(3));
  c.SetOutput(0, c.Input(4) ? y + c.Input(4) : y);
}

// Imports QGemm. The result is f32, or quantized if the output has a scale.
void ImportQGemm(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(3, 2, 2)) return;
  const bool transposed_b = c.Integer("transB", 0) != 0;
  Tensor a = Centered(c.Input(0), c.Input(2));
  Tensor b = TransposeOperand(c.Input(3), false, transposed_b);
  Tensor y = MatMul(TransposeOperand(a, false, c.Integer("transA", 0) != 0),
                    Centered(b, c.Input(5)));
  if (c.Input(6)) y = y + c.Input(6);
  Tensor scale = c.Input(1) * c.Input(4) * c.Float("alpha", 1.0);
  if (!c.Input(7)) {
    return c.SetOutput(0, Cast(y, DType::kF32) * scale);
  }
  const DType type = c.Input(8) ? c.Input(8).dtype() : c.Input(0).dtype();
  c.SetOutput(0, RoundToQuantized(Cast(y, DType::kF32) * (scale / c.Input(7)),
                                  c.Input(8), type));
}

Tensor ActivationByParameters(NodeContext& c, Tensor y) {
  const std::vector<double> given =
      c.Floats("activation_params").value_or(std::vector<double>());
  return FusedActivation(c, y, c.String("activation", ""),
                         {given.begin(), given.end()});
}

void ImportFusedConv(NodeContext& c) {
  Tensor y = Convolution(c, c.Input(0), c.Input(1), c.Input(2));
  if (!c.ok()) return;
  if (c.Input(3)) y = y + c.Input(3);
  c.SetOutput(0, ActivationByParameters(c, y));
}

// Imports NhwcFusedConv. Only the data has its channels last; the weights have
// the usual layout.
void ImportNhwcFusedConv(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor y =
      Convolution(c, ToChannelsFirst(c.Input(0)), c.Input(1), c.Input(2));
  if (!c.ok()) return;
  y = ToChannelsLast(y);
  if (c.Input(3)) y = y + c.Input(3);
  c.SetOutput(0, ActivationByParameters(c, y));
}

constexpr OperatorRow kRows[] = {
    {"DynamicQuantizeMatMul", 1, 3, 5, ImportDynamicQuantizeMatMul, kMicrosoft},
    {"FusedConv", 1, 2, 4, ImportFusedConv, kMicrosoft},
    {"FusedGemm", 1, 2, 3, ImportFusedGemm, kMicrosoft},
    {"FusedMatMul", 1, 2, 2, ImportFusedMatMul, kMicrosoft},
    {"FusedMatMulActivation", 1, 2, 2, ImportFusedMatMulActivation, kMicrosoft},
    {"MatMulInteger16", 1, 2, 2, ImportMatMulInteger16, kMicrosoft},
    {"MatMulIntegerToFloat", 1, 4, 7, ImportMatMulIntegerToFloat, kMicrosoft},
    {"MoE", 1, 3, 8, ImportMixtureOfExperts, kMicrosoft},
    {"NhwcConv", 1, 2, 3, ImportNhwcFusedConv, kMicrosoft},
    {"NhwcFusedConv", 1, 2, 4, ImportNhwcFusedConv, kMicrosoft},
    {"QGemm", 1, 6, 9, ImportQGemm, kMicrosoft},
    {"QMoE", 1, 3, 21, ImportMixtureOfExperts, kMicrosoft},
    {"TransposeMatMul", 1, 2, 2, ImportFusedMatMul, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribContractionOperators() { return kRows; }

}  // namespace ember::onnx

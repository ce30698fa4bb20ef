// Matrix products.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/quantization.h"
#include "frontends/ops/einsum.h"

namespace ember::onnx {
namespace {

void ImportMatMul(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, MatMul(c.Input(0), c.Input(1)));
}

void ImportGemm(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  const DType type = c.Input(0).dtype();
  std::string spec = c.Integer("transA", 0) != 0 ? "ki," : "ik,";
  spec += c.Integer("transB", 0) != 0 ? "jk->ij" : "kj->ij";
  Tensor y = Contract(c.Input(0), c.Input(1), spec);
  const double alpha = c.Float("alpha", 1.0);
  const double beta = c.Float("beta", 1.0);
  // Integers are multiplied by alpha and beta in f32. Large ones lose bits
  // there, but factors other than 1 make no sense for integers.
  const DType wide = IsFloat(type) ? ComputeType(type) : DType::kF32;
  const auto scale = [wide](Tensor x, double factor) {
    return factor == 1.0 ? x : Cast(x, wide) * factor;
  };
  const Tensor bias = c.Input(2);
  const bool adds_bias = bias && beta != 0.0;
  // The sum is computed in `wide`, too, if one of its terms is.
  const bool is_wide = alpha != 1.0 || (adds_bias && beta != 1.0);
  y = scale(y, alpha);
  if (adds_bias) {
    const Tensor added = scale(bias, beta);
    y = is_wide ? Cast(y, wide) + Cast(added, wide) : y + added;
  }
  c.SetOutput(0, is_wide ? Cast(y, type) : y);
}

// Reshapes a vector with one parameter per row of a matrix to [rows, 1].
// (Broadcasting alone would align the vector with the columns.)
Tensor PerRow(Tensor parameter) {
  const bool is_vector =
      parameter && parameter.rank() == 1 && parameter.dim(0) != Dim(1);
  return is_vector ? Unsqueeze(parameter, {1}) : parameter;
}

void ImportMatMulInteger(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, MatMul(Centered(c.Input(0), PerRow(c.Input(2))),
                        Centered(c.Input(1), c.Input(3))));
}

void ImportQLinearMatMul(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(3, 1)) return;
  auto single = [](Tensor scale) { return Cast(scale, DType::kF32); };
  Tensor product = MatMul(Centered(c.Input(0), PerRow(c.Input(2))),
                          Centered(c.Input(3), c.Input(5)));
  Tensor scale = single(PerRow(c.Input(1))) * single(c.Input(4)) /
                 single(PerRow(c.Input(6)));
  Tensor zero_point = PerRow(c.Input(7));
  c.SetOutput(0, RoundToQuantized(Cast(product, DType::kF32) * scale,
                                  zero_point, zero_point.dtype()));
}

void ImportEinsum(NodeContext& c) {
  if (!c.HasAttribute("equation"))
    return c.FailInvalid("attribute 'equation' is missing");
  c.SetOutput(0,
              ops::Einsum(c.builder(), c.String("equation", ""), c.inputs()));
}

constexpr OperatorRow kRows[] = {
    {"Einsum", 12, 1, kVariadic, ImportEinsum},
    {"Gemm", 1, 2, 3, ImportGemm},
    {"MatMul", 1, 2, 2, ImportMatMul},
    {"MatMulInteger", 10, 2, 4, ImportMatMulInteger},
    {"QLinearMatMul", 10, 8, 8, ImportQLinearMatMul},
};

}  // namespace

std::span<const OperatorRow> ContractionOperators() { return kRows; }

}  // namespace ember::onnx

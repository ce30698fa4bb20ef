// Imports products of matrices: of real numbers, of quantized ones in integers,
// and of real inputs with quantized weights.
#include <string>
#include <vector>

#include "frontends/tflite/activation.h"
#include "frontends/tflite/hybrid.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

constexpr std::string_view kRowsByWeights = "bi,oi->bo";

// Reshapes the operand to rows of the weights' width, [rows, width].
Tensor AsRows(Tensor x, const Dim& width) {
  if (x.rank() == 2 && x.dim(1) == width) return x;
  Dim rows = Dim(1);
  Shape leading(x.shape().begin(), x.shape().end() - (x.rank() > 0 ? 1 : 0));
  if (x.rank() > 0 && x.dim(-1) == width) {
    rows = ElementCount(leading);
  } else if (const auto divided =
                 ops::DivideElementCounts(x.shape(), {width})) {
    rows = *divided;
  }
  return Reshape(x, {rows, width});
}

// Reshapes the rows of the result as the options say: to the operand's dims, or
// to two dims.
Tensor FromRows(OperatorContext& c, Tensor y) {
  const auto& o = c.Options<schema::FullyConnectedOptions>();
  if (!o.keep_num_dims() || !c.ok()) return y;
  Shape shape = c.Input(0).shape();
  if (shape.empty()) return y;
  shape.back() = y.dim(1);
  return Reshape(y, shape);
}

Tensor CenteredWeights(OperatorContext& c, Tensor w, const Quantization& q) {
  if (q.per_tensor()) return CenteredStored(w, q);
  for (const int64_t zero : q.zero_points) {
    if (zero == 0) continue;
    c.FailUnsupported("weights: expected a zero point of 0 for each row");
    break;
  }
  return Cast(w, DType::kI32);
}

Tensor Transposed(Tensor x, bool transposed) {
  if (!transposed || x.rank() < 2) return x;
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transpose(x, order);
}

}  // namespace

void ImportFullyConnected(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 2, 2)) return;
  const auto& o = c.Options<schema::FullyConnectedOptions>();
  if (o.weights_format() != schema::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return c.FailUnsupported("weights in the shuffled order of one kernel");
  const Tensor w = c.Input(1), bias = c.Input(2);
  const Tensor x = AsRows(c.Input(0), w.dim(1));
  const Quantization* qx = c.InputQuantization(0);
  const Quantization* qw = c.InputQuantization(1);
  if (qw != nullptr && !qw->per_tensor() && qw->axis != 0)
    return c.FailUnsupported("weights: expected scales per row");
  if (qw != nullptr && x.is_float()) {
    if (w.dtype() != DType::kI8) {
      return c.FailUnsupported(
          "weights: expected 8-bit signed integers, found " +
          std::string(DTypeName(w.dtype())));
    }
    const Hybrid hybrid =
        QuantizeRows(x, 1,
                     o.asymmetric_quantize_inputs() ? Rounding::kAsymmetric
                                                    : Rounding::kSymmetric);
    const Tensor sums =
        Contract(hybrid.values, CenteredWeights(c, w, *qw), kRowsByWeights);
    const Tensor y = RealSums(c, sums, hybrid, *qw, bias);
    return c.SetOutput(
        0, FromRows(c, Activated(c, y, o.fused_activation_function())));
  }
  if (qx == nullptr && qw == nullptr) {
    Tensor y = Contract(x, w, kRowsByWeights);
    if (bias) y = y + bias;
    return c.SetOutput(
        0, FromRows(c, Activated(c, y, o.fused_activation_function())));
  }
  const Quantization* qy = c.OutputQuantization(0);
  if (qx == nullptr || qw == nullptr || qy == nullptr || !qx->per_tensor() ||
      !qy->per_tensor() || !(qy->scale() > 0) ||
      !IsStoredType(c.OutputType(0))) {
    return c.FailUnsupported(
        "expected input and result quantized with one scale each, and weights "
        "with one or one per row");
  }
  Tensor centered = CenteredStored(x, *qx);
  Tensor weights = CenteredWeights(c, w, *qw);
  if (bias && bias.dtype() == DType::kI64) {
    centered = Cast(centered, DType::kI64);
    weights = Cast(weights, DType::kI64);
  }
  Tensor sums = Contract(centered, weights, kRowsByWeights);
  if (bias) sums = sums + bias;
  SetRequantized(c, sums,
                 SumScales(*qx, *qw, *qy, /*in_32_bits=*/qw->per_tensor()),
                 o.fused_activation_function(), ops::Halves::kUp);
  c.SetOutput(0, FromRows(c, c.outputs()[0].value));
}

void ImportBatchMatMul(OperatorContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2)) return;
  const auto& o = c.Options<schema::BatchMatMulOptions>();
  const Quantization* qa = c.InputQuantization(0);
  const Quantization* qb = c.InputQuantization(1);
  Tensor a = Transposed(c.Input(0), o.adj_x());
  Tensor b = Transposed(c.Input(1), o.adj_y());
  if (qa == nullptr && qb == nullptr) return c.SetOutput(0, MatMul(a, b));
  if (qa == nullptr) {
    // The first operand is real and the second one quantized: rows of the first
    // are quantized at run time (hybrid.h).
    if (!qb->per_tensor())
      return c.FailUnsupported("input 1: expected one scale");
    const Hybrid hybrid =
        QuantizeRows(a, a.rank() - 1,
                     o.asymmetric_quantize_inputs() ? Rounding::kAsymmetric
                                                    : Rounding::kSymmetric);
    const Tensor sums = MatMul(hybrid.values, CenteredStored(b, *qb));
    return c.SetOutput(0, RealSums(c, sums, hybrid, *qb, Tensor()));
  }
  if (!CheckPerTensor(c, 2)) return;
  const Tensor sums = MatMul(CenteredStored(a, *qa), CenteredStored(b, *qb));
  SetRequantized(c, sums,
                 SumScales(*qa, *qb, *c.OutputQuantization(0),
                           /*in_32_bits=*/true),
                 schema::ActivationFunctionType::NONE, ops::Halves::kUp);
}

}  // namespace ember::tflite

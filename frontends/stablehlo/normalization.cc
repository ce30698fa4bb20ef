// Imports batch normalisation: inference, and the two operations of training by
// their formulas.
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

struct BatchNorm {
  Tensor x;
  double epsilon = 0;
  int feature = 0;
  // All dims except the feature dim: the dims that a statistic averages over.
  std::vector<int64_t> others;
};

bool ReadBatchNorm(OperationContext& c, BatchNorm& norm) {
  norm.x = c.Operand(0);
  norm.epsilon = c.Number("epsilon");
  const int64_t feature = c.Integer("feature_index", {});
  if (!c.ok() || !c.CheckAxes({feature}, "feature_index", norm.x.rank()))
    return false;
  norm.feature = static_cast<int>(feature);
  for (int i = 0; i < norm.x.rank(); ++i)
    if (i != norm.feature) norm.others.push_back(i);
  for (int i = 1; i < c.operand_count(); ++i) {
    const Tensor part = c.Operand(i);
    const bool vector =
        part.rank() == 1 && part.dim(0) == norm.x.dim(norm.feature);
    if (vector ||
        (c.operand_count() == 5 && i == 4 && part.shape() == norm.x.shape()))
      continue;
    c.FailInvalid("operand " + std::to_string(i) + ": expected " +
                  norm.x.dim(norm.feature).ToString() + " elements, found " +
                  graph::ShapeToString(part.shape()));
    return false;
  }
  return c.ok();
}

// Returns x in the type of the computation: f16 and bf16 are computed in f32.
Tensor Wide(Tensor x) { return Cast(x, ComputeType(x.dtype())); }

Tensor Along(const BatchNorm& norm, Tensor vector) {
  return AlongAxis(Wide(vector), norm.feature, norm.x.rank());
}

}  // namespace

void ImportBatchNormInference(OperationContext& c) {
  BatchNorm norm;
  if (!ReadBatchNorm(c, norm)) return;
  const Tensor scale = Along(norm, c.Operand(1));
  const Tensor offset = Along(norm, c.Operand(2));
  const Tensor mean = Along(norm, c.Operand(3));
  const Tensor deviation = Sqrt(Along(norm, c.Operand(4)) + norm.epsilon);
  c.SetResult(Cast(scale * ((Wide(norm.x) - mean) / deviation) + offset,
                   norm.x.dtype()));
}

void ImportBatchNormTraining(OperationContext& c) {
  BatchNorm norm;
  if (!ReadBatchNorm(c, norm)) return;
  if (c.result_count() != 3) return c.FailInvalid("expected three results");
  const DType type = norm.x.dtype();
  const Tensor x = Wide(norm.x);
  const Tensor mean = Mean(x, norm.others, true);
  const Tensor centered = x - mean;
  const Tensor variance = Mean(centered * centered, norm.others, true);
  const Tensor y =
      Along(norm, c.Operand(1)) * (centered / Sqrt(variance + norm.epsilon)) +
      Along(norm, c.Operand(2));
  const Shape vector{x.dim(norm.feature)};
  c.SetResult(0, Cast(y, type));
  c.SetResult(1, Cast(Reshape(mean, vector), type));
  c.SetResult(2, Cast(Reshape(variance, vector), type));
}

// Imports batch_norm_grad: the gradients of the operand, the scale and the
// offset.
void ImportBatchNormGrad(OperationContext& c) {
  BatchNorm norm;
  if (!ReadBatchNorm(c, norm)) return;
  if (c.result_count() != 3) return c.FailInvalid("expected three results");
  const DType type = norm.x.dtype();
  const Tensor centered = Wide(norm.x) - Along(norm, c.Operand(2));
  const Tensor deviation = Sqrt(Along(norm, c.Operand(3)) + norm.epsilon);
  const Tensor grad = Wide(c.Operand(4));
  const Tensor normal = centered / deviation;
  const Tensor scale_grad = Reduce(grad * normal, "sum", norm.others, true);
  const Tensor offset_grad = Reduce(grad, "sum", norm.others, true);
  const Tensor x_grad = Along(norm, c.Operand(1)) / deviation *
                        (grad - Mean(grad, norm.others, true) -
                         normal * Mean(grad * normal, norm.others, true));
  const Shape vector{norm.x.dim(norm.feature)};
  c.SetResult(0, Cast(x_grad, type));
  c.SetResult(1, Cast(Reshape(scale_grad, vector), type));
  c.SetResult(2, Cast(Reshape(offset_grad, vector), type));
}

}  // namespace ember::stablehlo

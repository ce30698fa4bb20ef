#include "frontends/onnx/compositions.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "frontends/onnx/dims.h"

namespace ember::onnx {

Tensor Relu(Tensor x) { return Maximum(x, 0); }

Tensor Sigmoid(Tensor x) { return 1.0 / (Exp(-x) + 1.0); }

Tensor Gelu(Tensor x) { return x * 0.5 * (Erf(x * std::sqrt(0.5)) + 1.0); }

Tensor TanhGelu(Tensor x) {
  Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / M_PI);
  return x * 0.5 * (Tanh(inner) + 1.0);
}

Tensor Softplus(Tensor x) { return Maximum(x, 0) + Log1p(Exp(-Absolute(x))); }

Tensor LogSoftmax(Tensor x, int axis) {
  const DType type = x.dtype();
  Tensor wide = Cast(x, ComputeType(type));
  Tensor shifted = wide - Reduce(wide, "maximum", {axis}, true);
  return Cast(shifted - Log(Reduce(Exp(shifted), "sum", {axis}, true)), type);
}

Tensor CorrectedMean(Tensor x, const std::vector<int64_t>& axes) {
  Tensor mean = Mean(x, axes, true);
  return mean + Mean(x - mean, axes, true);
}

Tensor Variance(Tensor x, Tensor mean, std::vector<int64_t> axes) {
  Tensor centered = x - mean;
  return Mean(centered * centered, std::move(axes), true);
}

Tensor NormalizeIndices(Tensor indices, const Dim& extent) {
  graph::GraphBuilder& builder = indices.builder();
  Tensor wide = Cast(indices, DType::kI64);
  if (!IsSigned(indices.dtype())) return wide;
  if (!builder.status().ok()) return wide;
  if (std::optional<Shape> known = builder.IntegerContents(wide.value())) {
    if (std::all_of(known->begin(), known->end(), IsNonNegative)) return wide;
    bool constant = true;
    for (Dim& index : *known) {
      constant = constant && index.is_constant();
      if (index.is_constant() && index.constant() < 0) index = index + extent;
    }
    if (constant) {
      Tensor values(&builder, builder.ShapeValue(*known));
      return Reshape(values, wide.shape());
    }
  }
  return Select(Less(wide, 0), wide + DimScalar(builder, extent), wide);
}

Tensor DimScalar(graph::GraphBuilder& builder, const Dim& dim) {
  return {&builder, builder.DimValue(dim)};
}

Tensor RepeatEach(Tensor x, int axis, const Dim& times) {
  if (!x.HasDim(axis)) return x;
  if (times == Dim(1)) return x;
  Shape repeated = x.shape();
  repeated.insert(repeated.begin() + axis + 1, times);
  Shape merged = x.shape();
  merged[axis] = merged[axis] * times;
  return Reshape(Broadcast(Unsqueeze(x, {axis + 1}), repeated), merged);
}

Tensor Reverse(Tensor x, int axis) {
  return SliceAxis(x, axis, x.dim(axis) - Dim(1), x.dim(axis), -1);
}

// Doubling steps: after step k each element holds the last 2^k ones.
Tensor InclusiveScan(Tensor x, int axis, int64_t extent, Opcode opcode,
                     double identity) {
  if (!x.HasDim(axis)) return x;
  const int rank = x.rank();
  for (int64_t shift = 1; shift < extent; shift *= 2) {
    Shape low(rank, Dim(0));
    Shape high(rank, Dim(0));
    low[axis] = Dim(shift);
    high[axis] = Dim(-shift);
    x = Binary(opcode, x, Pad(x, low, high, "constant", x.Like(identity)));
  }
  return x;
}

}  // namespace ember::onnx

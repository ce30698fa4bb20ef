// com.microsoft: activations with fused additions, and dropout in inference
// form.
#include <string>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"

namespace ember::onnx {
namespace {

// Computes an activation in f32 if x is f16 or bf16, and rounds the result
// once.
template <typename Compute>
Tensor InWideType(Tensor x, const Compute& compute) {
  return Cast(compute(Cast(x, ComputeType(x.dtype()))), x.dtype());
}

Tensor Plus(Tensor x, Tensor addend) {
  return addend ? x + Cast(addend, x.dtype()) : x;
}

void ImportBiasGelu(NodeContext& c) {
  c.SetOutput(0, InWideType(c.Input(0), [&](Tensor x) {
                return Gelu(Plus(x, c.Input(1)));
              }));
}

void ImportFastGelu(NodeContext& c) {
  c.SetOutput(0, InWideType(c.Input(0), [&](Tensor x) {
                return TanhGelu(Plus(x, c.Input(1)));
              }));
}

void ImportQuickGelu(NodeContext& c) {
  const double alpha = c.Float("alpha", 1.702);
  c.SetOutput(
      0, InWideType(c.Input(0), [&](Tensor x) { return Swish(x, alpha); }));
}

void ImportGemmFastGelu(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, InWideType(c.Input(0), [&](Tensor x) {
                return TanhGelu(
                    Plus(MatMul(x, Cast(c.Input(1), x.dtype())), c.Input(2)));
              }));
}

// Imports BiasSplitGelu: one half of the channels of x + bias, times the Gelu
// of the other half.
void ImportBiasSplitGelu(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  c.SetOutput(0, InWideType(c.Input(0), [&](Tensor x) {
                Tensor sum = Plus(x, c.Input(1));
                const int axis = sum.rank() - 1;
                const Dim half = FloorDivide(sum.dim(-1), Dim(2));
                return SliceAxis(sum, axis, Dim(0), half) *
                       Gelu(SliceAxis(sum, axis, half, half));
              }));
}

// Imports x + bias + residual. Bias and residual may be absent.
void ImportBiasAdd(NodeContext& c) {
  c.SetOutput(0, InWideType(c.Input(0), [&](Tensor x) {
                return Plus(Plus(x, c.Input(1)), c.Input(2));
              }));
}

// Imports BiasSoftmax: the softmax of x + bias over all dims from `axis` on,
// like ONNX's Softmax before opset 13.
void ImportBiasSoftmax(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 1), x.rank());
  if (!c.ok()) return;
  const Shape& shape = x.shape();
  const Dim rows = ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const Dim columns = ElementCount(Shape(shape.begin() + axis, shape.end()));
  c.SetOutput(0, InWideType(x, [&](Tensor wide) {
                Tensor sum = Reshape(Plus(wide, c.Input(1)), {rows, columns});
                return Reshape(Softmax(sum, 1), shape);
              }));
}

bool IsTraining(NodeContext& c, int input) {
  if (!c.Input(input)) return false;
  const std::optional<double> mode = c.ConstantNumber(input, "training_mode");
  if (!mode || *mode == 0) return false;
  c.FailUnsupported("training mode is not supported: its result is random");
  return true;
}

void ImportBiasDropout(NodeContext& c) {
  if (IsTraining(c, 4)) return;
  ImportBiasAdd(c);
  if (c.WantsOutput(1)) {
    c.SetOutput(1, Broadcast(c.Scalar(1, DType::kBool), c.Input(0).shape()));
  }
}

// Returns the mask of a dropout that drops nothing: a bit of 1 for each
// element, 32 elements to a word.
Tensor FullBitmask(NodeContext& c) {
  const Dim words = CeilDivide(ElementCount(c.Input(0).shape()), Dim(32));
  return Broadcast(c.Scalar(4294967295.0, DType::kU32), {words});
}

void ImportBitmaskDropout(NodeContext& c) {
  if (IsTraining(c, 2)) return;
  c.SetOutput(0, c.Input(0));
  if (c.WantsOutput(1)) c.SetOutput(1, FullBitmask(c));
}

void ImportBitmaskBiasDropout(NodeContext& c) {
  if (IsTraining(c, 4)) return;
  ImportBiasAdd(c);
  if (c.WantsOutput(1)) c.SetOutput(1, FullBitmask(c));
}

constexpr OperatorRow kRows[] = {
    {"BiasAdd", 1, 2, 3, ImportBiasAdd, kMicrosoft},
    {"BiasDropout", 1, 2, 5, ImportBiasDropout, kMicrosoft},
    {"BiasGelu", 1, 2, 2, ImportBiasGelu, kMicrosoft},
    {"BiasSoftmax", 1, 2, 2, ImportBiasSoftmax, kMicrosoft},
    {"BiasSplitGelu", 1, 2, 2, ImportBiasSplitGelu, kMicrosoft},
    {"BitmaskBiasDropout", 1, 2, 5, ImportBitmaskBiasDropout, kMicrosoft},
    {"BitmaskDropout", 1, 1, 3, ImportBitmaskDropout, kMicrosoft},
    {"FastGelu", 1, 1, 2, ImportFastGelu, kMicrosoft},
    {"GemmFastGelu", 1, 2, 3, ImportGemmFastGelu, kMicrosoft},
    {"QuickGelu", 1, 1, 1, ImportQuickGelu, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribActivationOperators() { return kRows; }

}  // namespace ember::onnx

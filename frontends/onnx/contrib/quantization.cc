// com.microsoft: operators on quantized tensors, with a scale and a zero point
// per operand and result. They compute on the real numbers and round the
// result.
#include "frontends/onnx/operators/quantization.h"

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/convolution.h"
#include "frontends/onnx/operators/pooling.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Returns a scale or zero point without dims. Models may give it as a tensor of
// one element.
Tensor AsScalar(Tensor parameter) {
  return parameter ? Reshape(parameter, {}) : parameter;
}

// Reads a quantized operand as real numbers. Inputs first to first + 2 are its
// integers, its scale and its zero point.
Tensor Operand(NodeContext& c, int first) {
  if (!CheckPresent(c, {first, first + 1})) return c.Wrap(nullptr);
  return Dequantize(c.Input(first), AsScalar(c.Input(first + 1)),
                    AsScalar(c.Input(first + 2)));
}

// Quantizes y and sets it as the node's result. The result's scale is input
// `scale`; its zero point is the next input and gives the integer type. Without
// a zero point the type is that of input 0.
void SetQuantized(NodeContext& c, Tensor y, int scale) {
  if (!CheckPresent(c, {scale})) return;
  Tensor zero_point = AsScalar(c.Input(scale + 1));
  const DType type = zero_point ? zero_point.dtype() : c.Input(0).dtype();
  c.SetOutput(0,
              RoundToQuantized(y / AsScalar(c.Input(scale)), zero_point, type));
}

void ImportQLinearAdd(NodeContext& c) {
  SetQuantized(c, Operand(c, 0) + Operand(c, 3), 6);
}

void ImportQLinearMul(NodeContext& c) {
  SetQuantized(c, Operand(c, 0) * Operand(c, 3), 6);
}

void ImportQLinearLeakyRelu(NodeContext& c) {
  Tensor x = Operand(c, 0);
  SetQuantized(c, LeakyRelu(x, c.Float("alpha", 0.01)), 3);
}

void ImportQLinearSigmoid(NodeContext& c) {
  SetQuantized(c, Sigmoid(Operand(c, 0)), 3);
}

// Imports QLinearSoftmax. Its attribute `opset` says which Softmax it follows:
// that of an opset before 13 is over all dims from `axis` on.
void ImportQLinearSoftmax(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = Operand(c, 0);
  const bool flattens = c.Integer("opset", 13) < 13;
  const int axis = c.Axis(c.Integer("axis", flattens ? 1 : -1), x.rank());
  if (!c.ok()) return;
  if (!flattens) return SetQuantized(c, Softmax(x, axis), 3);
  const Shape& shape = x.shape();
  const Dim rows = ElementCount(Shape(shape.begin(), shape.begin() + axis));
  const Dim columns = ElementCount(Shape(shape.begin() + axis, shape.end()));
  Tensor flat = Softmax(Reshape(x, {rows, columns}), 1);
  SetQuantized(c, Reshape(flat, shape), 3);
}

template <typename Compute>
void ImportPooling(NodeContext& c, const Compute& compute) {
  if (!c.CheckRank(0, 3)) return;
  const bool channels_last = c.Integer("channels_last", 0) != 0;
  Tensor x = Operand(c, 0);
  Tensor y = compute(channels_last ? ToChannelsFirst(x) : x);
  if (c.ok()) SetQuantized(c, channels_last ? ToChannelsLast(y) : y, 3);
}

void ImportQLinearAveragePool(NodeContext& c) {
  ImportPooling(c, [&](Tensor x) { return AveragePool(c, x); });
}

void ImportQLinearGlobalAveragePool(NodeContext& c) {
  ImportPooling(c, [](Tensor x) {
    std::vector<int64_t> axes(x.rank() - 2);
    std::iota(axes.begin(), axes.end(), 2);
    return Mean(x, axes, true);
  });
}

void ImportNhwcMaxPool(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor y = MaxPool(c, ToChannelsFirst(c.Input(0)));
  if (c.ok()) c.SetOutput(0, ToChannelsLast(y));
}

// Imports QLinearConcat. The node's inputs are the result's scale and zero
// point, then a tensor, a scale and a zero point for each operand.
void ImportQLinearConcat(NodeContext& c) {
  std::vector<Tensor> parts;
  for (int i = 2; i + 2 < c.input_count(); i += 3)
    parts.push_back(Operand(c, i));
  if (parts.empty() || !c.ok()) return c.FailInvalid("expected operands");
  const int axis = c.Axis(c.Integer("axis", 0), parts.front().rank());
  if (!c.ok()) return;
  Tensor zero_point = AsScalar(c.Input(1));
  c.SetOutput(0, RoundToQuantized(Concat(parts, axis) / AsScalar(c.Input(0)),
                                  zero_point, zero_point.dtype()));
}

void ImportQLinearWhere(NodeContext& c) {
  if (!CheckPresent(c, {7, 8})) return;
  Tensor y = Select(c.Input(0), Operand(c, 1), Operand(c, 4));
  Tensor zero_point = AsScalar(c.Input(8));
  c.SetOutput(0, RoundToQuantized(y / AsScalar(c.Input(7)), zero_point,
                                  zero_point.dtype()));
}

// Returns the attribute `axes`, or all axes if the node has no such attribute.
std::vector<int64_t> ReducedAxes(NodeContext& c, int rank) {
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int64_t> given = c.Integers("axes", {});
  return given.empty() ? all : c.DistinctAxes(given, rank);
}

void ImportQLinearReduceMean(NodeContext& c) {
  Tensor x = Operand(c, 0);
  const std::vector<int64_t> axes = ReducedAxes(c, x.rank());
  if (!c.ok()) return;
  SetQuantized(c, Mean(x, axes, c.Integer("keepdims", 1) != 0), 3);
}

void ImportReduceSumInteger(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::vector<int64_t> axes = ReducedAxes(c, x.rank());
  if (!c.ok()) return;
  const DType type = IsSigned(x.dtype()) ? DType::kI32 : DType::kU32;
  c.SetOutput(
      0, Reduce(Cast(x, type), "sum", axes, c.Integer("keepdims", 1) != 0));
}

void ImportMulInteger(NodeContext& c) {
  if (!CheckPresent(c, {2})) return;
  c.SetOutput(0, Centered(c.Input(0), AsScalar(c.Input(1))) *
                     Centered(c.Input(2), AsScalar(c.Input(3))));
}

constexpr OperatorRow kRows[] = {
    {"MulInteger", 1, 1, 4, ImportMulInteger, kMicrosoft},
    {"NhwcMaxPool", 1, 1, 1, ImportNhwcMaxPool, kMicrosoft},
    {"QLinearAdd", 1, 2, 8, ImportQLinearAdd, kMicrosoft},
    {"QLinearAveragePool", 1, 2, 5, ImportQLinearAveragePool, kMicrosoft},
    {"QLinearConcat", 1, 2, kVariadic, ImportQLinearConcat, kMicrosoft},
    {"QLinearGlobalAveragePool", 1, 2, 5, ImportQLinearGlobalAveragePool,
     kMicrosoft},
    {"QLinearLeakyRelu", 1, 2, 5, ImportQLinearLeakyRelu, kMicrosoft},
    {"QLinearMul", 1, 2, 8, ImportQLinearMul, kMicrosoft},
    {"QLinearReduceMean", 1, 2, 5, ImportQLinearReduceMean, kMicrosoft},
    {"QLinearSigmoid", 1, 2, 5, ImportQLinearSigmoid, kMicrosoft},
    {"QLinearSoftmax", 1, 2, 5, ImportQLinearSoftmax, kMicrosoft},
    {"QLinearWhere", 1, 9, 9, ImportQLinearWhere, kMicrosoft},
    {"ReduceSumInteger", 1, 1, 1, ImportReduceSumInteger, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribQuantizationOperators() { return kRows; }

}  // namespace ember::onnx

// The custom operators of MediaPipe's models. Their options are C structures of
// TensorFlow Lite, as 32-bit integers in the file.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/convolution.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/windows.h"
#include "frontends/tflite/activation.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

using ops::Window;

// Largest stride, and largest number of elements of a window. No model's
// pooling is larger.
constexpr int64_t kMaxExtent = 1024;

// Reads the first `count` integers of the operator's options. Returns nullopt,
// after an error, if there are fewer.
std::optional<std::vector<int64_t>> ReadIntegers(OperatorContext& c,
                                                 size_t count) {
  const auto bytes = c.model().CustomOptions(c.op());
  if (bytes.size() < count * sizeof(int32_t)) {
    c.FailInvalid("custom options: expected at least " + std::to_string(count) +
                  " integers of 32 bits, found " +
                  std::to_string(bytes.size()) + " bytes");
    return std::nullopt;
  }
  std::vector<int64_t> integers;
  for (size_t i = 0; i < count; ++i) {
    int32_t value;
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    integers.push_back(value);
  }
  return integers;
}

// Reads the option `padding` of a MediaPipe operator: true for SAME, false for
// VALID; nullopt after an error.
std::optional<bool> IsSame(OperatorContext& c, int64_t padding) {
  constexpr int64_t kSame = 1, kValid = 2;
  if (!c.CheckRange("padding", padding, kSame, kValid)) return std::nullopt;
  return padding == kSame;
}

struct Pooling {
  bool is_same = false;
  std::vector<int64_t> kernel, strides;
  schema::ActivationFunctionType activation =
      schema::ActivationFunctionType::NONE;
};

// Reads the options of a pooling: padding, width and height of the stride,
// width and height of the window, activation. Returns nullopt after an error.
std::optional<Pooling> ReadPooling(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return std::nullopt;
  const auto values = ReadIntegers(c, 6);
  if (!values) return std::nullopt;
  const std::optional<bool> is_same = IsSame(c, (*values)[0]);
  if (!is_same) return std::nullopt;
  Pooling pooling;
  pooling.is_same = *is_same;
  pooling.strides = {(*values)[2], (*values)[1]};
  pooling.kernel = {(*values)[4], (*values)[3]};
  for (int i = 0; i < 2; ++i) {
    if (!c.CheckRange("stride", pooling.strides[i], 1, kMaxExtent) ||
        !c.CheckRange("window", pooling.kernel[i], 1, kMaxExtent))
      return std::nullopt;
  }
  if (!c.CheckRange("window", pooling.kernel[0] * pooling.kernel[1], 1,
                    kMaxExtent) ||
      !c.CheckRange("activation", (*values)[5], 0, 4))
    return std::nullopt;
  // The accepted activations, 0 to 4, have the same numbers in MediaPipe's
  // options as in TensorFlow Lite's file format.
  pooling.activation =
      static_cast<schema::ActivationFunctionType>((*values)[5]);
  return pooling;
}

}  // namespace

// Imports Convolution2DTransposeBias. Operands: x, weights [O, window…, C],
// bias [O].
void ImportTransposeConvBias(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 4, 4) || !c.CheckRank(2, 1, 1))
    return;
  const auto values = ReadIntegers(c, 3);
  if (!values) return;
  const std::optional<bool> is_same = IsSame(c, (*values)[0]);
  if (!is_same) return;
  const Tensor x = c.Input(0), w = c.Input(1);
  Window window = ops::WindowOf({1, 1});
  window.strides = {(*values)[2], (*values)[1]};
  Shape spatial, result;
  for (int i = 0; i < 2; ++i) {
    const Dim& extent = x.dim(i + 1);
    const Dim& kernel = w.dim(i + 1);
    const int64_t stride = window.strides[i];
    if (!c.CheckRange("stride", stride, 1, kMaxExtent)) return;
    if (!extent.is_constant() || !kernel.is_constant()) {
      return c.FailUnsupported(
          "expected constant heights and widths of images and weights, found " +
          graph::ShapeToString(x.shape()) + " and " +
          graph::ShapeToString(w.shape()));
    }
    window.kernel[i] = kernel.constant();
    if (!c.CheckRange("window", window.kernel[i], 1, kMaxExtent) ||
        !c.CheckRange("extent", extent.constant(), 1, int64_t{1} << 30))
      return;
    const int64_t last = extent.constant() - 1;
    const int64_t cut =
        *is_same ? std::max<int64_t>(0, window.kernel[i] - 1 - last % stride)
                 : 0;
    spatial.push_back(extent);
    result.push_back(Dim(last * stride + window.kernel[i] - cut));
  }
  ops::ConvTransposeSpec spec{std::move(window), {}, 1};
  if (!ops::PadTransposed(c.builder(), spatial, result, *is_same, spec)) return;
  c.SetOutput(
      0, ops::ConvTranspose(x, Transpose(w, {1, 2, 3, 0}), c.Input(2), spec));
}

// Imports MaxPoolingWithArgmax2D. Results: the maximum of each window, and its
// position in the window. Positions are counted row by row, and stored as f32
// with 0.1 added.
void ImportMaxPoolWithArgmax(OperatorContext& c) {
  const std::optional<Pooling> pooling = ReadPooling(c);
  if (!pooling) return;
  const Tensor x = c.Input(0);
  Window window = ops::WindowOf(pooling->kernel);
  window.strides = pooling->strides;
  if (pooling->is_same)
    ops::PadSame({x.dim(1), x.dim(2)}, /*upper=*/true, window);
  const Tensor y = ops::ReduceWindow(x, "maximum", window, 1);
  const Tensor padded = Pad(x, {Dim(0), window.low[0], window.low[1], Dim(0)},
                            {Dim(0), window.high[0], window.high[1], Dim(0)},
                            "constant", x.Like(-HUGE_VAL));
  if (!c.ok()) return;
  std::vector<Tensor> places;
  for (int64_t row = 0; row < window.kernel[0]; ++row) {
    for (int64_t column = 0; column < window.kernel[1]; ++column) {
      const Tensor rows =
          SliceAxis(padded, 1, Dim(row), y.dim(1), window.strides[0]);
      places.push_back(Unsqueeze(
          SliceAxis(rows, 2, Dim(column), y.dim(2), window.strides[1]), {0}));
    }
  }
  const Tensor place = Apply("arg_reduce", {Concat(places, 0)},
                             {{"mode", std::string("maximum")},
                              {"axis", int64_t{0}},
                              {"last", int64_t{0}}});
  c.SetOutput(0, Activated(c, y, pooling->activation));
  c.SetOutput(1, Cast(place, DType::kF32) + static_cast<double>(0.1f));
}

// Imports MaxUnpooling2D. Operands: x, and the position of each element in its
// window. Each element becomes a window of zeros with the element at this
// position.
void ImportMaxUnpooling(OperatorContext& c) {
  const std::optional<Pooling> pooling = ReadPooling(c);
  if (!pooling || !c.CheckRank(1, 4, 4)) return;
  if (pooling->strides != pooling->kernel) {
    return c.FailUnsupported("expected strides as large as the window, found " +
                             std::to_string(pooling->strides[0]) + " and " +
                             std::to_string(pooling->strides[1]) + " for " +
                             std::to_string(pooling->kernel[0]) + "x" +
                             std::to_string(pooling->kernel[1]));
  }
  const Tensor x = c.Input(0);
  const Dim rows(pooling->kernel[0]), columns(pooling->kernel[1]);
  // The positions, as [N, H, 1, W, 1, C], are compared with the numbers of all
  // positions of a window.
  const Tensor place = Unsqueeze(Cast(c.Input(1), DType::kI32), {2, 4});
  const Tensor numbers =
      Reshape(IotaVector(c.builder(), rows * columns, DType::kI32),
              {Dim(1), Dim(1), rows, Dim(1), columns, Dim(1)});
  const Tensor windows =
      Select(Equal(place, numbers), Unsqueeze(x, {2, 4}), x.Like(0));
  c.SetOutput(0, Reshape(windows, {x.dim(0), x.dim(1) * rows,
                                   x.dim(2) * columns, x.dim(3)}));
}

}  // namespace ember::tflite

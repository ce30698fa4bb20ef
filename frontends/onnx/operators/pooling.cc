// Pooling as window reductions, in the model's own order of dims.
#include "frontends/onnx/operators/pooling.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/windows.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/pooling.h"

namespace ember::onnx {
namespace {

// Returns `lead` for the batch and channel dims, followed by `parts` for the
// spatial dims.
template <typename T>
std::vector<T> WithLeading(const T& lead, const std::vector<T>& parts) {
  std::vector<T> all{lead, lead};
  all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

Tensor ReduceWindow(Tensor x, std::string_view combiner, const Window& window) {
  return ops::ReduceWindow(x, combiner, window, /*first=*/2);
}

std::optional<Window> ReadPoolingWindow(NodeContext& c, Tensor x) {
  if (!c.CheckRank(0, 3)) return std::nullopt;
  std::optional<std::vector<int64_t>> kernel = c.Integers("kernel_shape");
  if (!kernel) {
    c.FailInvalid("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  const Shape& shape = x.shape();
  return ReadWindow(c, *std::move(kernel),
                    Shape(shape.begin() + 2, shape.end()));
}

void ImportAveragePool(NodeContext& c) {
  c.SetOutput(0, AveragePool(c, c.Input(0)));
}

// Returns the distance of two neighbours along a spatial dim, as flat positions
// in [N, C, spatial…]. The spatial dims are row-major or column-major.
Dim SpatialStride(const Shape& shape, int dim, bool column_major) {
  const int rank = static_cast<int>(shape.size());
  if (column_major)
    return ElementCount(Shape(shape.begin() + 2, shape.begin() + dim));
  return ElementCount(Shape(shape.begin() + dim + 1, shape.begin() + rank));
}

// Returns the flat index of the largest element of each window, with one
// comparison per position of the window.
Tensor MaxPoolIndices(NodeContext& c, Tensor x, const Window& window) {
  const int rank = x.rank();
  const bool column_major = c.Integer("storage_order", 0) != 0;
  int64_t positions = 1;
  for (int64_t extent : window.kernel) {
    positions =
        std::min<int64_t>(positions * std::min<int64_t>(extent, 4096), 4096);
  }
  if (positions > 256) {
    c.FailUnsupported(
        "output 1: indices are supported for windows of up to 256 elements, "
        "found " +
        std::to_string(positions));
    return c.Wrap(nullptr);
  }
  const Shape pooled = ReduceWindow(x, "maximum", window).shape();
  // Elements of the padding have the index -1, so that they never win.
  Tensor flat = c.Scalar(0, DType::kI64);
  for (int axis = 0; axis < rank; ++axis) {
    const Dim stride = axis >= 2
                           ? SpatialStride(x.shape(), axis, column_major)
                           : ElementCount(Shape(x.shape().begin() + axis + 1,
                                                x.shape().end()));
    Tensor step(&c.builder(), c.builder().DimValue(stride));
    flat = flat +
           AlongAxis(IotaVector(c.builder(), x.dim(axis), DType::kI64) * step,
                     axis, rank);
  }
  flat = Broadcast(flat, x.shape());
  const Shape low = WithLeading(Dim(0), window.low);
  const Shape high = WithLeading(Dim(0), window.high);
  Tensor padded_flat =
      Pad(flat, low, high, "constant", c.Scalar(-1, DType::kI64));
  Tensor padded = Pad(x, low, high, "constant", x.Like(0));
  Tensor best;
  Tensor best_index;
  for (int64_t position = 0; position < positions; ++position) {
    Shape starts(rank, Dim(0));
    std::vector<int64_t> steps(rank, 1);
    int64_t rest = position;
    for (int i = window.rank() - 1; i >= 0; --i) {
      starts[i + 2] = Dim(rest % window.kernel[i] * window.dilations[i]);
      steps[i + 2] = window.strides[i];
      rest /= window.kernel[i];
    }
    Tensor value = Slice(padded, starts, steps, pooled);
    Tensor index = Slice(padded_flat, starts, steps, pooled);
    if (position == 0) {
      best = value;
      best_index = index;
      continue;
    }
    // An element replaces the largest so far if it is larger, or if it is the
    // first NaN (docs/arithmetic.md).
    Tensor wins = And(LessEqual(0, index),
                      Or(Less(best_index, 0),
                         And(Not(LessEqual(value, best)), Equal(best, best))));
    best = Select(wins, value, best);
    best_index = Select(wins, index, best_index);
  }
  return best_index;
}

// Returns the shape that the operand of a MaxPool had if the MaxPool's result
// has the shape of this node's operand and its windows fit exactly. Returns
// nullopt after an error.
std::optional<Shape> UnpooledShape(NodeContext& c) {
  std::optional<std::vector<int64_t>> kernel = c.Integers("kernel_shape");
  if (!kernel) {
    c.FailInvalid("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  Shape shape = c.Input(0).shape();
  const int spatial = static_cast<int>(shape.size()) - 2;
  std::optional<Window> window =
      ReadWindowExtents(c, *std::move(kernel), spatial);
  if (!window || !ReadPads(c, *window)) return std::nullopt;
  for (int i = 0; i < spatial; ++i) {
    shape[i + 2] = (shape[i + 2] - Dim(1)) * Dim(window->strides[i]) +
                   Dim(window->kernel[i]) - window->low[i] - window->high[i];
  }
  return shape;
}

void ImportMaxPool(NodeContext& c) {
  const std::optional<Window> window = ReadPoolingWindow(c, c.Input(0));
  if (!window) return;
  c.SetOutput(0, ReduceWindow(c.Input(0), "maximum", *window));
  if (c.WantsOutput(1)) c.SetOutput(1, MaxPoolIndices(c, c.Input(0), *window));
}

// Puts elements at the flat indices that a MaxPool returned, and zeros
// elsewhere. The indices count in the shape of the MaxPool's operand. The
// importer adds that shape as input 3 if it knows it; otherwise it is computed
// from the window. If an output shape is given, zeros are appended to fill it.
void ImportMaxUnpool(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor x = c.Input(0);
  const int rank = x.rank();
  if (!c.CheckRank(1, rank, rank)) return;
  const std::optional<Shape> shape = c.Input(2) && c.Input(3)
                                         ? c.Contents(3, "pooled shape")
                                         : UnpooledShape(c);
  if (!shape) return;
  const Dim total = ElementCount(*shape);
  const Dim count = ElementCount(x.shape());
  Tensor y = Apply(
      "scatter_elements",
      {Broadcast(x.Like(0), {total}),
       Reshape(Cast(c.Input(1), DType::kI64), {count}), Reshape(x, {count})},
      {{"axis", int64_t{0}}, {"update", std::string("assign")}});
  y = Reshape(y, *shape);
  if (!c.Input(2)) return c.SetOutput(0, y);
  const std::optional<Shape> given = c.Sizes(2, "output_shape");
  if (!given) return;
  if (static_cast<int>(given->size()) != rank) {
    return c.FailInvalid("output_shape (input 2): expected " +
                         std::to_string(rank) + " elements, found " +
                         std::to_string(given->size()));
  }
  Shape high;
  for (int i = 0; i < rank; ++i) high.push_back((*given)[i] - y.dim(i));
  c.SetOutput(0, Pad(y, Shape(rank, Dim(0)), high, "constant", x.Like(0)));
}

// Computes (sum of |x|^p)^(1/p); p = 1 and p = 2 are computed without general
// powers.
template <typename Sum>
Tensor LpNorm(Tensor x, int64_t p, const Sum& sum) {
  const DType type = x.dtype();
  Tensor magnitude = Absolute(Cast(x, ComputeType(type)));
  if (p == 1) return Cast(sum(magnitude), type);
  if (p == 2) return Cast(Sqrt(sum(magnitude * magnitude)), type);
  const double power = static_cast<double>(p);
  return Cast(Power(sum(Power(magnitude, power)), 1 / power), type);
}

void ImportLpPool(NodeContext& c) {
  const std::optional<Window> window = ReadPoolingWindow(c, c.Input(0));
  if (!window) return;
  c.SetOutput(0, LpNorm(c.Input(0), c.Integer("p", 2), [&](Tensor x) {
                return ReduceWindow(x, "sum", *window);
              }));
}

std::vector<int64_t> SpatialAxes(Tensor x) {
  std::vector<int64_t> axes(x.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

void ImportGlobalAveragePool(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  c.SetOutput(0, Mean(c.Input(0), SpatialAxes(c.Input(0)), true));
}

void ImportGlobalMaxPool(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  c.SetOutput(0, Reduce(c.Input(0), "maximum", SpatialAxes(c.Input(0)), true));
}

void ImportGlobalLpPool(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  Tensor x = c.Input(0);
  c.SetOutput(0, LpNorm(x, c.Integer("p", 2), [](Tensor powers) {
                return Reduce(powers, "sum", SpatialAxes(powers), true);
              }));
}

constexpr OperatorRow kRows[] = {
    {"AveragePool", 1, 1, 1, ImportAveragePool},
    {"GlobalAveragePool", 1, 1, 1, ImportGlobalAveragePool},
    {"GlobalLpPool", 2, 1, 1, ImportGlobalLpPool},
    {"GlobalMaxPool", 1, 1, 1, ImportGlobalMaxPool},
    {"LpPool", 2, 1, 1, ImportLpPool},
    {"MaxPool", 1, 1, 1, ImportMaxPool},
    {"MaxUnpool", 9, 2, 3, ImportMaxUnpool},
};

}  // namespace

Tensor AveragePool(NodeContext& c, Tensor x) {
  const std::optional<Window> window = ReadPoolingWindow(c, x);
  if (!window) return c.Wrap(nullptr);
  return ops::AveragePool(x, *window, /*first=*/2,
                          c.Integer("count_include_pad", 0) != 0);
}

Tensor MaxPool(NodeContext& c, Tensor x) {
  const std::optional<Window> window = ReadPoolingWindow(c, x);
  return window ? ReduceWindow(x, "maximum", *window) : c.Wrap(nullptr);
}

std::span<const OperatorRow> PoolingOperators() { return kRows; }

}  // namespace ember::onnx

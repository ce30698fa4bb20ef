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

// Returns a list with an entry for each dim of [N, C, spatial…]: `lead` for the
// batch and the channels, then `parts` for the spatial dims.
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

// Returns the number of flat positions by which two neighbours along spatial
// dim `dim` differ in a tensor [N, C, spatial…], whose spatial dims are counted
// in row-major or column-major order.
Dim SpatialStride(const Shape& shape, int dim, bool column_major) {
  const int rank = static_cast<int>(shape.size());
  if (column_major)
    return ElementCount(Shape(shape.begin() + 2, shape.begin() + dim));
  return ElementCount(Shape(shape.begin() + dim + 1, shape.begin() + rank));
}

// Elements to compare (at first those of the operand, then the largest ones of
// windows) and their flat indices in the operand. Elements of the padding have
// the index -1.
struct Largest {
  Tensor value;
  Tensor index;
};

// Returns the largest element of each window among those at `positions` of the
// window. `steps`: the distance of windows along each dim; `shape`: the shape
// of the result.
Largest LargestOf(const Largest& from, const Window& window,
                  const std::vector<std::vector<int64_t>>& positions,
                  const std::vector<int64_t>& steps, const Shape& shape) {
  Largest best;
  for (const std::vector<int64_t>& position : positions) {
    Shape starts(shape.size(), Dim(0));
    for (size_t i = 0; i < position.size(); ++i)
      starts[i + 2] = Dim(position[i] * window.dilations[i]);
    Tensor value = Slice(from.value, starts, steps, shape);
    Tensor index = Slice(from.index, starts, steps, shape);
    if (!best.value) {
      best = {value, index};
      continue;
    }
    // An element replaces the largest so far if it is larger, or if it is the
    // first NaN (docs/arithmetic.md).
    Tensor wins =
        And(LessEqual(0, index),
            Or(Less(best.index, 0), And(Not(LessEqual(value, best.value)),
                                        Equal(best.value, best.value))));
    best.value = Select(wins, value, best.value);
    best.index = Select(wins, index, best.index);
  }
  return best;
}

// Returns all positions of a window of these extents, in row-major order.
std::vector<std::vector<int64_t>> PositionsOf(
    const std::vector<int64_t>& extents) {
  std::vector<std::vector<int64_t>> positions = {{}};
  for (const int64_t extent : extents) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& position : positions) {
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(position);
        longer.back().push_back(i);
      }
    }
    positions = std::move(longer);
  }
  return positions;
}

// Returns the flat indices of the elements of a shape.
Tensor FlatIndices(NodeContext& c, const Shape& shape) {
  const bool column_major = c.Integer("storage_order", 0) != 0;
  const int rank = static_cast<int>(shape.size());
  Tensor flat = c.Scalar(0, DType::kI64);
  for (int axis = 0; axis < rank; ++axis) {
    const Dim stride =
        axis >= 2 ? SpatialStride(shape, axis, column_major)
                  : ElementCount(Shape(shape.begin() + axis + 1, shape.end()));
    Tensor step(&c.builder(), c.builder().DimValue(stride));
    flat = flat +
           AlongAxis(IotaVector(c.builder(), shape[axis], DType::kI64) * step,
                     axis, rank);
  }
  return Broadcast(flat, shape);
}

// Returns the flat index of the largest element of each window. A small window
// takes one comparison per position. A large one is searched along one dim
// after the other, with one comparison per position of each dim; the last dim
// comes first, so that the first of equal elements in row-major order wins in
// this case, too.
Tensor MaxPoolIndices(NodeContext& c, Tensor x, const Window& window) {
  constexpr int64_t kMax = 256;
  const int rank = x.rank();
  int64_t positions = 1;
  for (int64_t extent : window.kernel) {
    positions *= std::min<int64_t>(extent, kMax + 1);
    if (extent > kMax) {
      c.FailUnsupported(
          "output 1: indices are supported for windows of up to 256 elements "
          "along each dim, found " +
          std::to_string(extent));
      return c.Wrap(nullptr);
    }
    positions = std::min(positions, kMax + 1);
  }
  const Shape pooled = ReduceWindow(x, "maximum", window).shape();
  if (!c.ok()) return c.Wrap(nullptr);
  // Elements of the padding have the index -1, so that they never win.
  const Shape low = WithLeading(Dim(0), window.low);
  const Shape high = WithLeading(Dim(0), window.high);
  Largest largest = {Pad(x, low, high, "constant", x.Like(0)),
                     Pad(FlatIndices(c, x.shape()), low, high, "constant",
                         c.Scalar(-1, DType::kI64))};
  if (positions <= kMax) {
    const std::vector<int64_t> steps = WithLeading(int64_t{1}, window.strides);
    return LargestOf(largest, window, PositionsOf(window.kernel), steps, pooled)
        .index;
  }
  for (int i = window.rank() - 1; i >= 0; --i) {
    Shape shape = largest.value.shape();
    shape[i + 2] = pooled[i + 2];
    std::vector<int64_t> extents(window.kernel.size(), 1);
    extents[i] = window.kernel[i];
    std::vector<int64_t> steps(static_cast<size_t>(rank), 1);
    steps[i + 2] = window.strides[i];
    largest = LargestOf(largest, window, PositionsOf(extents), steps, shape);
  }
  return largest.index;
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

// Imports MaxUnpool: writes elements to the flat indices that a MaxPool
// returned, and zeros elsewhere. The indices refer to the shape of the
// MaxPool's operand. The importer adds it as input 3 if it knows it and the
// node states an output shape; without input 3 the shape is computed from the
// window. If the stated output shape is larger, zeros are appended.
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

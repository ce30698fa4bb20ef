// Imports pooling. Inputs are [N, C, spatial…], or without N.
#include "frontends/ops/pooling.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/rounding.h"
#include "frontends/ops/windows.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

// Reads the window of a pooling from the arguments of a call: kernel, stride,
// padding and dilation of the last `count` dims. Returns false after an error.
bool ReadWindow(Call& c, const Tensor& x, size_t count, bool has_dilation,
                ops::Window& window) {
  if (!c.CheckRank("self", x, static_cast<int>(count) + 1,
                   static_cast<int>(count) + 2))
    return false;
  window = ops::WindowOf(c.integers("kernel_size", count));
  // Without a stride, the stride is the extent of the window.
  const bool has_stride =
      c.has("stride") && !(c.value("stride").is_sequence() &&
                           c.value("stride").list->items.empty());
  window.strides = has_stride ? c.integers("stride", count) : window.kernel;
  if (has_dilation) window.dilations = c.integers("dilation", count);
  const std::vector<int64_t> padding = c.integers("padding", count);
  if (!c.ok()) return false;
  for (size_t i = 0; i < count; ++i) {
    if (window.kernel[i] < 1 || window.strides[i] < 1 ||
        window.dilations[i] < 1 || padding[i] < 0 ||
        window.kernel[i] > ops::kMaxWindow ||
        window.strides[i] > ops::kMaxWindow ||
        window.dilations[i] > ops::kMaxWindow || padding[i] > ops::kMaxWindow) {
      c.FailInvalid(
          "expected a kernel, stride and dilation of 1 or more and a padding "
          "of 0 or more, each at most 2^24");
      return false;
    }
    window.low[i] = window.high[i] = Dim(padding[i]);
  }
  if (c.flag("ceil_mode")) {
    const Shape spatial(x.shape().end() - static_cast<std::ptrdiff_t>(count),
                        x.shape().end());
    ops::ExtendToCeil(spatial, window);
  }
  return c.ok();
}

template <size_t count>
Tensor MaxPool(Call& c) {
  const Tensor x = c.tensor("self");
  ops::Window window;
  if (!ReadWindow(c, x, count, true, window)) return x;
  return ops::ReduceWindow(x, "maximum", window,
                           x.rank() - static_cast<int>(count));
}

template <size_t count>
Tensor AveragePool(Call& c) {
  const Tensor x = c.tensor("self");
  ops::Window window;
  if (!ReadWindow(c, x, count, false, window)) return x;
  const int first = x.rank() - static_cast<int>(count);
  if (c.has("divisor_override")) {
    const double divisor = c.number("divisor_override");
    return ops::ReduceWindow(x, "sum", window, first) / divisor;
  }
  return ops::AveragePool(x, window, first, c.flag("count_include_pad"));
}
template <size_t count>
Tensor AveragePool1(Call& c) {
  const Tensor x = c.tensor("self");
  ops::Window window;
  if (!ReadWindow(c, x, count, false, window)) return x;
  return ops::AveragePool(x, window, x.rank() - static_cast<int>(count),
                          c.flag("count_include_pad"));
}

// Pools one axis adaptively, from extent `in` to `out`: element i of the result
// is the mean or maximum of the elements [floor(i in / out), ceil((i + 1) in /
// out)).
Tensor AdaptAxis(Call& c, const Tensor& x, int axis, int64_t out,
                 bool is_mean) {
  const std::optional<int64_t> in = x.dim(axis).AsConstant();
  const auto reduce = [&](const Tensor& part, std::vector<int64_t> axes) {
    return is_mean ? ops::Mean(part, std::move(axes), true)
                   : ops::Reduce(part, "maximum", std::move(axes), true);
  };
  if (out == 1) return reduce(x, {axis});
  if (!in) {
    c.FailUnsupported("expected an axis whose extent is known to pool to " +
                      std::to_string(out) + " elements, found " +
                      x.dim(axis).ToString());
    return x;
  }
  if (*in == out) return x;
  if (*in % out == 0) {
    ops::Window window = ops::WindowOf({*in / out});
    window.strides = {*in / out};
    return is_mean ? ops::AveragePool(x, window, axis, false)
                   : ops::ReduceWindow(x, "maximum", window, axis);
  }
  if (out > 4096) {
    c.FailUnsupported("expected at most 4096 uneven parts, found " +
                      std::to_string(out));
    return x;
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < out && c.ok(); ++i) {
    const int64_t start = i * *in / out;
    const int64_t end = DivideRoundingUp((i + 1) * *in, out);
    parts.push_back(
        reduce(ops::SliceAxis(x, axis, Dim(start), Dim(end - start)), {axis}));
  }
  return Concat(parts, axis);
}
// Reads the argument output_size of an adaptive pooling: an entry for each of
// the last `count` axes. An entry without a value keeps the axis's extent.
// Returns nullopt after an error.
std::optional<std::vector<std::optional<int64_t>>> AdaptedSizes(Call& c,
                                                                const Tensor& x,
                                                                size_t count) {
  if (!c.CheckRank("self", x, static_cast<int>(count) + 1,
                   static_cast<int>(count) + 2))
    return std::nullopt;
  // An entry None in output_size (here nullopt) keeps the extent of the axis.
  std::vector<std::optional<int64_t>> sizes;
  const Value& given = c.value("output_size");
  if (given.is_sequence()) {
    for (const Value& item : given.list->items) {
      if (item.is_none()) {
        sizes.emplace_back();
        continue;
      }
      const Dim size = c.machine().ToDim(item);
      if (!size.is_constant())
        c.FailUnsupported("output_size: expected ints that are known");
      sizes.push_back(size.AsConstant());
    }
  } else {
    sizes.push_back(c.integer("output_size"));
  }
  if (sizes.size() == 1) sizes.resize(count, sizes[0]);
  if (!c.ok()) return std::nullopt;
  if (sizes.size() != count) {
    c.FailInvalid("output_size: expected " + std::to_string(count) +
                  " ints, found " + std::to_string(sizes.size()));
    return std::nullopt;
  }
  for (const std::optional<int64_t>& size : sizes) {
    if (size && *size < 1) {
      c.FailInvalid("output_size: expected 1 or more, found " +
                    std::to_string(*size));
      return std::nullopt;
    }
  }
  return sizes;
}
Tensor Adapt(Call& c, size_t count, bool is_mean) {
  Tensor x = c.tensor("self");
  const auto sizes = AdaptedSizes(c, x, count);
  if (!sizes) return x;
  const int first = x.rank() - static_cast<int>(count);
  if (std::all_of(sizes->begin(), sizes->end(),
                  [](const auto& size) { return size == 1; })) {
    std::vector<int64_t> axes(count);
    std::iota(axes.begin(), axes.end(), first);
    return is_mean ? ops::Mean(x, axes, true)
                   : ops::Reduce(x, "maximum", axes, true);
  }
  for (size_t i = 0; i < count && c.ok(); ++i) {
    const std::optional<int64_t>& size = (*sizes)[i];
    if (size) x = AdaptAxis(c, x, first + static_cast<int>(i), *size, is_mean);
  }
  return x;
}
template <size_t count>
Tensor AdaptiveAveragePool(Call& c) {
  return Adapt(c, count, true);
}

// Elements during a pooling with indices, and their row-major indices in the
// image before pooling.
struct IndexedValues {
  Tensor values;
  Tensor indices;
};
// Pools a whole axis to its largest element and the index of that; of equal
// elements the first one wins. The axis stays as a dim of 1.
IndexedValues LargestAlong(const IndexedValues& x, int axis) {
  const Tensor best = ops::Unsqueeze(Apply("arg_reduce", {x.values},
                                           {{"mode", std::string("maximum")},
                                            {"axis", int64_t{axis}},
                                            {"last", int64_t{0}}}),
                                     {axis});
  const auto pick = [&](const Tensor& from) {
    return Apply("gather_elements", {from, best}, {{"axis", int64_t{axis}}});
  };
  return {pick(x.values), pick(x.indices)};
}
// Pools one axis adaptively, like AdaptAxis, to its largest elements and their
// indices. The extent of the axis is known unless `out` is 1.
IndexedValues AdaptIndexedAxis(Call& c, const IndexedValues& x, int axis,
                               int64_t out) {
  const std::optional<int64_t> in = x.values.dim(axis).AsConstant();
  if (out == 1) return LargestAlong(x, axis);
  if (!in || *in == out) return x;
  const auto with = [&](const auto& change) {
    return IndexedValues{change(x.values), change(x.indices)};
  };
  if (*in % out == 0) {
    Shape split = x.values.shape();
    split[static_cast<size_t>(axis)] = Dim(out);
    split.insert(split.begin() + axis + 1, Dim(*in / out));
    const IndexedValues y = LargestAlong(
        with([&](const Tensor& t) { return ops::Reshape(t, split); }),
        axis + 1);
    return {ops::Squeeze(y.values, {axis + 1}),
            ops::Squeeze(y.indices, {axis + 1})};
  }
  std::vector<Tensor> values, indices;
  for (int64_t i = 0; i < out && c.ok(); ++i) {
    const int64_t start = i * *in / out;
    const int64_t end = DivideRoundingUp((i + 1) * *in, out);
    const IndexedValues part = LargestAlong(
        with([&](const Tensor& t) {
          return ops::SliceAxis(t, axis, Dim(start), Dim(end - start));
        }),
        axis);
    values.push_back(part.values);
    indices.push_back(part.indices);
  }
  return {Concat(values, axis), Concat(indices, axis)};
}
// Imports adaptive_max_pool with indices, which are row-major in an image. Axes
// are pooled from the last one on, so that the first of equal elements in
// row-major order wins.
template <size_t count>
Value AdaptiveMaxPool(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor y = Adapt(c, count, false);
  const auto sizes = c.ok() ? AdaptedSizes(c, x, count) : std::nullopt;
  if (!sizes) return {};
  const int first = x.rank() - static_cast<int>(count);
  const Shape image(x.shape().begin() + first, x.shape().end());
  const Tensor indices = ops::Reshape(
      IotaVector(c.builder(), graph::ElementCount(image), DType::kI64), image);
  IndexedValues largest = {x, ops::Broadcast(indices, x.shape())};
  for (size_t i = count; i-- > 0 && c.ok();) {
    const std::optional<int64_t>& size = (*sizes)[i];
    if (size)
      largest =
          AdaptIndexedAxis(c, largest, first + static_cast<int>(i), *size);
  }
  return c.machine().NewTuple(
      {c.machine().NewTensor(y), c.machine().NewTensor(largest.indices)});
}

// Returns the index of the largest element of each window, counted row by row
// in the whole image without its padding.
Tensor IndicesOfLargest(Call& c, const Tensor& x, const ops::Window& window,
                        int first) {
  const double lowest = -std::numeric_limits<double>::infinity();
  const auto count = static_cast<size_t>(window.rank());
  Shape low(x.shape().size(), Dim(0));
  Shape high = low;
  for (size_t i = 0; i < count; ++i) {
    low[static_cast<size_t>(first) + i] = window.low[i];
    high[static_cast<size_t>(first) + i] = window.high[i];
  }
  // After padding, each axis is replaced by two: the number of the window, and
  // the position in the window.
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  Tensor y = ops::Pad(wide, low, high, "constant", wide.Like(lowest));

  std::vector<int64_t> order;
  std::vector<int64_t> indices;
  Shape windows;
  std::vector<Tensor> positions;
  const int rank = first + 2 * window.rank();
  for (int i = 0; i < first; ++i) order.push_back(i);
  for (size_t i = 0; i < count; ++i) {
    const int axis = first + 2 * static_cast<int>(i);
    const Dim number =
        FloorDivide(y.dim(axis) - Dim(window.Reach(static_cast<int>(i))),
                    Dim(window.strides[i])) +
        Dim(1);
    const Tensor start = IotaVector(c.builder(), number, DType::kI64) *
                         static_cast<double>(window.strides[i]);
    const Tensor within =
        IotaVector(c.builder(), Dim(window.kernel[i]), DType::kI64) *
        static_cast<double>(window.dilations[i]);
    const Tensor position =
        ops::AlongAxis(start, 0, 2) + ops::AlongAxis(within, 1, 2);
    y = ops::Gather(y, position, axis);
    order.push_back(axis);
    indices.push_back(axis + 1);
    windows.push_back(number);
    Shape own(static_cast<size_t>(rank), Dim(1));
    own[static_cast<size_t>(axis)] = number;
    own[static_cast<size_t>(axis) + 1] = Dim(window.kernel[i]);
    positions.push_back(ops::Reshape(
        position - ops::DimScalar(c.builder(), window.low[i]), own));
  }
  order.insert(order.end(), indices.begin(), indices.end());
  Tensor flat = positions[0];
  for (size_t i = 1; i < count; ++i) {
    flat =
        flat * ops::DimScalar(c.builder(), x.dim(first + static_cast<int>(i))) +
        positions[i];
  }
  if (!c.ok()) return x;
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  shape.insert(shape.end(), windows.begin(), windows.end());
  int64_t elements = 1;
  for (const int64_t extent : window.kernel) elements *= extent;
  shape.emplace_back(elements);
  const auto arranged = [&](const Tensor& tensor) {
    return ops::Reshape(
        ops::Transpose(ops::Broadcast(tensor, y.shape()), order), shape);
  };
  const int last = static_cast<int>(shape.size()) - 1;
  const Tensor best = ops::Unsqueeze(Apply("arg_reduce", {arranged(y)},
                                           {{"mode", std::string("maximum")},
                                            {"axis", int64_t{last}},
                                            {"last", int64_t{0}}}),
                                     {last});
  return ops::Squeeze(Apply("gather_elements", {arranged(flat), best},
                            {{"axis", int64_t{last}}}),
                      {last});
}
template <size_t count>
Value MaxPoolWithIndices(Call& c) {
  const Tensor x = c.tensor("self");
  ops::Window window;
  if (!ReadWindow(c, x, count, true, window)) return {};
  const int first = x.rank() - static_cast<int>(count);
  const Tensor y = ops::ReduceWindow(x, "maximum", window, first);
  return c.machine().NewTuple(
      {c.machine().NewTensor(y),
       c.machine().NewTensor(IndicesOfLargest(c, x, window, first))});
}

// Imports max_unpool: writes each element to the position that its index gives;
// all other elements of the result are 0.
template <size_t count>
Tensor MaxUnpool(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor indices = c.Indices("indices");
  const Shape size = c.dims("output_size");
  if (!c.CheckRank("self", x, static_cast<int>(count) + 1,
                   static_cast<int>(count) + 2) ||
      !c.CheckRank("indices", indices, x.rank(), x.rank()))
    return x;
  if (size.size() != count) {
    c.FailInvalid("output_size: expected " + std::to_string(count) +
                  " numbers, found " + std::to_string(size.size()));
    return x;
  }
  const Shape front(x.shape().begin(),
                    x.shape().end() - static_cast<std::ptrdiff_t>(count));
  const auto with = [&](const Dim& extent) {
    Shape shape = front;
    shape.push_back(extent);
    return shape;
  };
  const Shape spatial(x.shape().end() - static_cast<std::ptrdiff_t>(count),
                      x.shape().end());
  const Dim elements = graph::ElementCount(spatial);
  const Tensor y = Apply(
      "scatter_elements",
      {ops::Broadcast(x.Like(0), with(graph::ElementCount(size))),
       ops::Reshape(indices, with(elements)), ops::Reshape(x, with(elements))},
      {{"axis", static_cast<int64_t>(front.size())},
       {"update", std::string("assign")}});
  Shape shape = front;
  shape.insert(shape.end(), size.begin(), size.end());
  return ops::Reshape(y, shape);
}

#define EMBER_TORCH_MAX_POOL                                               \
  "(Tensor self, int[] kernel_size, int[]? stride=None, int[] padding=0, " \
  "int[] dilation=1, bool ceil_mode=False)"
#define EMBER_TORCH_AVERAGE_POOL                                           \
  "(Tensor self, int[] kernel_size, int[]? stride=None, int[] padding=0, " \
  "bool ceil_mode=False, bool count_include_pad=True, "                    \
  "int? divisor_override=None)"

}  // namespace

std::span<const OperatorRow> PoolingRows() {
  static constexpr OperatorRow kRows[] = {
      {"max_pool1d" EMBER_TORCH_MAX_POOL, MaxPool<1>},
      {"max_pool2d" EMBER_TORCH_MAX_POOL, MaxPool<2>},
      {"max_pool3d" EMBER_TORCH_MAX_POOL, MaxPool<3>},
      {"max_pool1d_with_indices" EMBER_TORCH_MAX_POOL, MaxPoolWithIndices<1>},
      {"max_pool2d_with_indices" EMBER_TORCH_MAX_POOL, MaxPoolWithIndices<2>},
      {"max_pool3d_with_indices" EMBER_TORCH_MAX_POOL, MaxPoolWithIndices<3>},
      {"max_unpool2d(Tensor self, Tensor indices, int[] output_size)",
       MaxUnpool<2>},
      {"max_unpool3d(Tensor self, Tensor indices, int[] output_size, "
       "int[]? stride=None, int[]? padding=None)",
       MaxUnpool<3>},
      {"avg_pool1d(Tensor self, int[] kernel_size, int[]? stride=None, "
       "int[] padding=0, bool ceil_mode=False, bool count_include_pad=True)",
       AveragePool1<1>},
      {"avg_pool2d" EMBER_TORCH_AVERAGE_POOL, AveragePool<2>},
      {"avg_pool3d" EMBER_TORCH_AVERAGE_POOL, AveragePool<3>},
      {"adaptive_avg_pool1d(Tensor self, any output_size)",
       AdaptiveAveragePool<1>},
      {"adaptive_avg_pool2d(Tensor self, any output_size)",
       AdaptiveAveragePool<2>},
      {"adaptive_avg_pool3d(Tensor self, any output_size)",
       AdaptiveAveragePool<3>},
      {"_adaptive_avg_pool2d(Tensor self, any output_size)",
       AdaptiveAveragePool<2>},
      {"adaptive_max_pool1d(Tensor self, any output_size)", AdaptiveMaxPool<1>},
      {"adaptive_max_pool2d(Tensor self, any output_size)", AdaptiveMaxPool<2>},
      {"adaptive_max_pool3d(Tensor self, any output_size)", AdaptiveMaxPool<3>},
  };
  return kRows;
}

}  // namespace ember::torchscript

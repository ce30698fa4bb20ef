#include "frontends/ops/pooling.h"

#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace ember::ops {
namespace {

// Returns a list with one entry for each of `rank` dims: those of `parts` for
// the window's dims, and `otherwise` for the other dims.
template <typename T>
std::vector<T> ForAllDims(const std::vector<T>& parts, const T& otherwise,
                          int first, int rank) {
  std::vector<T> all(static_cast<size_t>(first), otherwise);
  all.insert(all.end(), parts.begin(), parts.end());
  if (all.size() < static_cast<size_t>(rank))
    all.resize(static_cast<size_t>(rank), otherwise);
  return all;
}

}  // namespace

Tensor ReduceWindow(Tensor x, std::string_view combiner, const Window& window,
                    int first) {
  const int rank = x.rank();
  return Apply(
      "reduce_window", {x},
      {{"combiner", std::string(combiner)},
       {"window", ForAllDims<int64_t>(window.kernel, 1, first, rank)},
       {"strides", ForAllDims<int64_t>(window.strides, 1, first, rank)},
       {"dilations", ForAllDims<int64_t>(window.dilations, 1, first, rank)},
       {"low", ForAllDims(window.low, Dim(0), first, rank)},
       {"high", ForAllDims(window.high, Dim(0), first, rank)}});
}

Tensor CountAlong(graph::GraphBuilder& builder, const Dim& extent,
                  const Window& window, int i, bool include_pad) {
  Dim size = extent;
  Dim low = window.low[i];
  Dim high = window.high[i];
  if (include_pad) {
    size = extent + low + high - window.ceil_extra[i];
    low = Dim(0);
    high = window.ceil_extra[i];
  }
  const Tensor one(&builder, builder.Scalar(1, DType::kF32));
  return Apply("reduce_window", {Broadcast(one, {size})},
               {{"combiner", std::string("sum")},
                {"window", std::vector<int64_t>{window.kernel[i]}},
                {"strides", std::vector<int64_t>{window.strides[i]}},
                {"dilations", std::vector<int64_t>{window.dilations[i]}},
                {"low", Shape{low}},
                {"high", Shape{high}}});
}

Tensor AveragePool(Tensor x, const Window& window, int first,
                   bool include_pad) {
  const DType type = x.dtype();
  Tensor sum = ReduceWindow(Cast(x, ComputeType(type)), "sum", window, first);
  if (!window.IsPadded()) {
    const double count = std::accumulate(
        window.kernel.begin(), window.kernel.end(), 1.0, std::multiplies<>());
    return Cast(sum / count, type);
  }
  for (int i = 0; i < window.rank(); ++i) {
    const Tensor count =
        CountAlong(x.builder(), x.dim(first + i), window, i, include_pad);
    sum = sum / Cast(AlongAxis(count, first + i, x.rank()), sum.dtype());
  }
  return Cast(sum, type);
}

}  // namespace ember::ops

// Imports MIL's convolutions, pooling, products and normalisation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "frontends/coreml/labels.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/normalization.h"
#include "frontends/ops/pooling.h"
#include "frontends/ops/resize.h"
#include "frontends/ops/windows.h"

namespace ember::coreml {
namespace {

using ops::Window;

// Reads kernel, strides, dilations and padding for x [N, C, spatial…]; nullopt
// after an error.
std::optional<Window> ReadWindow(MilOperation& o, const Tensor& x,
                                 std::vector<int64_t> kernel) {
  const size_t rank = kernel.size();
  Window window = ops::WindowOf(std::move(kernel));
  window.strides = o.Integers("strides", window.strides);
  window.dilations = o.Integers("dilations", window.dilations);
  if (static_cast<int>(rank) + 2 != x.rank() || rank < 1 ||
      window.strides.size() != rank || window.dilations.size() != rank) {
    o.FailInvalid("expected a window, strides and dilations of " +
                  std::to_string(x.rank() - 2) + " dims");
    return std::nullopt;
  }
  for (size_t i = 0; i < rank; ++i) {
    if (!o.CheckRange("kernel", window.kernel[i]) ||
        !o.CheckRange("strides", window.strides[i]) ||
        !o.CheckRange("dilations", window.dilations[i]))
      return std::nullopt;
  }
  const std::string type = o.Text("pad_type", "valid");
  if (type == "same" || type == "same_lower") {
    ops::PadSame(Shape(x.shape().begin() + 2, x.shape().end()), type == "same",
                 window);
  } else if (type == "custom") {
    const std::vector<int64_t> pad =
        o.Integers("pad", std::vector<int64_t>(2 * rank, 0));
    if (pad.size() != 2 * rank) {
      o.FailInvalid("pad: expected " + std::to_string(2 * rank) +
                    " values, found " + std::to_string(pad.size()));
      return std::nullopt;
    }
    for (size_t i = 0; i < rank; ++i) {
      if (!o.CheckRange("pad", pad[2 * i], 0) ||
          !o.CheckRange("pad", pad[2 * i + 1], 0))
        return std::nullopt;
      window.low[i] = Dim(pad[2 * i]);
      window.high[i] = Dim(pad[2 * i + 1]);
    }
  } else if (type != "valid") {
    o.FailInvalid(
        "pad_type: expected valid, same, same_lower or custom, "
        "found '" +
        type + "'");
    return std::nullopt;
  }
  return window;
}

std::vector<int64_t> KernelOf(MilOperation& o, const Tensor& weight) {
  std::vector<int64_t> kernel;
  for (int i = 2; i < weight.rank(); ++i) {
    const auto extent = o.Extent(weight, i);
    if (!extent) return {};
    kernel.push_back(*extent);
  }
  return kernel;
}

Tensor Optional(MilOperation& o, std::string_view name) {
  return o.Has(name) ? o.Input(name) : Tensor();
}

// Imports conv. The weight is [O, C / groups, window…].
void Convolution(MilOperation& o) {
  if (!o.CheckRank("x", 3, 5) || !o.CheckRank("weight", 3, 5)) return;
  const Tensor x = o.Input("x"), weight = o.Input("weight");
  const std::optional<Window> window = ReadWindow(o, x, KernelOf(o, weight));
  const int64_t groups = o.Integer("groups", 1);
  if (!window || !o.CheckRange("groups", groups)) return;
  std::vector<int64_t> order(static_cast<size_t>(window->rank()));
  std::iota(order.begin(), order.end(), 2);
  order.push_back(1);
  order.push_back(0);
  const Tensor y = ops::Conv(ops::ToChannelsLast(x), Transpose(weight, order),
                             Optional(o, "bias"), {*window, groups});
  o.SetOutput(0, ops::ToChannelsFirst(y));
}

// Imports conv_transpose. The weight is [C, O / groups, window…].
void ConvolutionTranspose(MilOperation& o) {
  if (!o.CheckRank("x", 3, 5) || !o.CheckRank("weight", 3, 5)) return;
  const Tensor x = o.Input("x"), weight = o.Input("weight");
  std::optional<Window> window = ReadWindow(o, x, KernelOf(o, weight));
  const int64_t groups = o.Integer("groups", 1);
  if (!window || !o.CheckRange("groups", groups)) return;
  const auto rank = static_cast<size_t>(window->rank());
  ops::ConvTransposeSpec spec{*window, std::vector<int64_t>(rank, 0), groups};
  std::vector<int64_t> wanted = o.Integers("output_shape");
  if (wanted.size() == rank + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  const std::string type = o.Text("pad_type", "valid");
  if (wanted.empty() && (type == "same" || type == "same_lower")) {
    for (size_t i = 0; i < rank; ++i) {
      const auto extent = o.Extent(x, static_cast<int>(i) + 2);
      if (!extent) return;
      wanted.push_back(*extent * window->strides[i]);
    }
  }
  if (!wanted.empty()) {
    if (wanted.size() != rank) return o.FailInvalid("output_shape: wrong size");
    for (size_t i = 0; i < rank; ++i) {
      const auto extent = o.Extent(x, static_cast<int>(i) + 2);
      if (!extent || !o.CheckRange("output_shape", wanted[i])) return;
      const int64_t full = (*extent - 1) * window->strides[i] +
                           window->Reach(static_cast<int>(i));
      if (type == "custom") {
        spec.output_padding[i] = std::max<int64_t>(
            wanted[i] -
                (full - window->low[i].constant() - window->high[i].constant()),
            0);
        continue;
      }
      const int64_t excess = std::max<int64_t>(full - wanted[i], 0);
      spec.output_padding[i] = std::max<int64_t>(wanted[i] - full, 0);
      const int64_t less = excess / 2;
      spec.window.low[i] = Dim(type == "same_lower" ? excess - less : less);
      spec.window.high[i] = Dim(type == "same_lower" ? less : excess - less);
    }
  }
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 2);
  order.push_back(0);
  order.push_back(1);
  const Tensor y =
      ops::ConvTranspose(ops::ToChannelsLast(x), Transpose(weight, order),
                         Optional(o, "bias"), spec);
  o.SetOutput(0, ops::ToChannelsFirst(y));
}

enum class PoolKind : uint8_t { kMax, kAverage, kL2 };

template <PoolKind kKind>
void Pool(MilOperation& o) {
  if (!o.CheckRank("x", 3, 5)) return;
  const Tensor x = o.Input("x");
  std::optional<Window> window = ReadWindow(o, x, o.Integers("kernel_sizes"));
  if (!window) return;
  if (o.Flag("ceil_mode", false))
    ops::ExtendToCeil(Shape(x.shape().begin() + 2, x.shape().end()), *window);
  if (kKind == PoolKind::kMax)
    return o.SetOutput(0, ReduceWindow(x, "maximum", *window, 2));
  if (kKind == PoolKind::kL2)
    return o.SetOutput(0, Sqrt(ReduceWindow(x * x, "sum", *window, 2)));
  o.SetOutput(0, AveragePool(x, *window, 2,
                             !o.Flag("exclude_padding_from_average", false)));
}

void BatchNorm(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const auto along = [&](std::string_view name) {
    return ops::AlongAxis(o.Input(name), 1, x.rank());
  };
  Tensor scale = 1.0 / Sqrt(along("variance") + o.Number("epsilon", 1e-5));
  if (o.Has("gamma")) scale = scale * along("gamma");
  Tensor y = (x - along("mean")) * scale;
  if (o.Has("beta")) y = y + along("beta");
  o.SetOutput(0, y);
}

void InstanceNorm(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  std::vector<int64_t> axes;
  for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
  Tensor y = ops::Standardized(x, axes, o.Number("epsilon", 1e-5));
  if (o.Has("gamma")) y = y * ops::AlongAxis(o.Input("gamma"), 1, x.rank());
  if (o.Has("beta")) y = y + ops::AlongAxis(o.Input("beta"), 1, x.rank());
  o.SetOutput(0, y);
}

void LayerNorm(MilOperation& o) {
  const Tensor x = o.Input("x");
  const std::vector<int64_t> axes = o.Axes("axes", x.rank());
  if (!o.ok()) return;
  Tensor y = ops::Standardized(x, axes, o.Number("epsilon", 1e-5));
  // Gamma and beta of the normalisation have only the dims of the normalised
  // axes, so they are reshaped to broadcast against x.
  const auto placed = [&](std::string_view name) {
    Shape shape(static_cast<size_t>(x.rank()), Dim(1));
    const Tensor factor = o.Input(name);
    if (!o.ok() || factor.rank() != static_cast<int>(axes.size())) {
      o.FailInvalid(std::string(name) + ": expected rank " +
                    std::to_string(axes.size()));
      return factor;
    }
    for (size_t i = 0; i < axes.size(); ++i)
      shape[static_cast<size_t>(axes[i])] = factor.dim(static_cast<int>(i));
    return Reshape(factor, shape);
  };
  if (o.Has("gamma")) y = y * placed("gamma");
  if (o.Has("beta")) y = y + placed("beta");
  o.SetOutput(0, y);
}

void L2Norm(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const int r = x.rank();
  o.SetOutput(0, x / Sqrt(Reduce(x * x, "sum", {r - 3, r - 2, r - 1}, true) +
                          o.Number("epsilon", 1e-6)));
}

void LocalResponseNorm(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const int64_t size = o.Integer("size", 5);
  if (!o.CheckRange("size", size)) return;
  Window window = ops::WindowOf({size});
  window.low = {Dim((size - 1) / 2)};
  window.high = {Dim(size / 2)};
  const Tensor sum = ReduceWindow(x * x, "sum", window, 1);
  o.SetOutput(
      0, x * Power(sum * (o.Number("alpha", 1e-4) / static_cast<double>(size)) +
                       o.Number("k", 1),
                   -o.Number("beta", 0.75)));
}

void Linear(MilOperation& o) {
  const Tensor x = o.Input("x");
  if (!o.CheckRank("x", 1) || !o.CheckRank("weight", 2, 2)) return;
  Tensor y = MatMul(x, Transpose(o.Input("weight"), {1, 0}));
  if (o.Has("bias")) y = y + o.Input("bias");
  o.SetOutput(0, y);
}

void Matmul(MilOperation& o) {
  Tensor x = o.Input("x"), y = o.Input("y");
  const auto transposed = [](const Tensor& m) {
    std::vector<int64_t> order(static_cast<size_t>(m.rank()));
    std::iota(order.begin(), order.end(), 0);
    if (m.rank() >= 2)
      std::swap(order[order.size() - 1], order[order.size() - 2]);
    return Transpose(m, order);
  };
  if (o.Flag("transpose_x", false)) x = transposed(x);
  if (o.Flag("transpose_y", false)) y = transposed(y);
  o.SetOutput(0, MatMul(x, y));
}

// Computes softmax(q kᵀ / √E + mask) v. A boolean mask keeps only keys where it
// is true.
void Attention(MilOperation& o) {
  if (!o.CheckRank("query", 3) || !o.CheckRank("key", 3) ||
      !o.CheckRank("value", 3))
    return;
  const Tensor query = o.Input("query"), key = o.Input("key");
  const auto size = o.Extent(query, query.rank() - 1);
  if (!size || !o.CheckRange("query's last dim", *size)) return;
  std::vector<int64_t> order(static_cast<size_t>(key.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  Tensor scores = MatMul(query, Transpose(key, order)) *
                  (1 / std::sqrt(static_cast<double>(*size)));
  if (o.Has("attn_mask")) {
    const Tensor mask = o.Input("attn_mask");
    if (mask.dtype() == DType::kBool) {
      scores = Select(mask, scores,
                      scores.Like(-std::numeric_limits<double>::infinity()));
    } else {
      scores = scores + mask;
    }
  }
  if (!o.ok()) return;
  o.SetOutput(0, MatMul(Softmax(scores, scores.rank() - 1), o.Input("value")));
}

void SoftmaxAlong(MilOperation& o) {
  const Tensor x = o.Input("x");
  o.SetOutput(0, Softmax(x, o.Axis("axis", -1, x.rank())));
}

void UpsampleNearest(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const double h = o.Number("scale_factor_height", 1);
  const double w = o.Number("scale_factor_width", 1);
  if (h != std::floor(h) || w != std::floor(w) || !o.ok())
    return o.FailUnsupported("expected whole scale factors");
  const auto rows = static_cast<int64_t>(h), columns = static_cast<int64_t>(w);
  if (!o.CheckRange("scale_factor_height", rows) ||
      !o.CheckRange("scale_factor_width", columns))
    return;
  o.SetOutput(0, RepeatEach(RepeatEach(x, x.rank() - 2, Dim(rows)),
                            x.rank() - 1, Dim(columns)));
}

void UpsampleBilinear(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  ops::ResizeSpec spec;
  spec.mode = "linear";
  const bool corners = o.Flag("align_corners", true);
  spec.coordinates = corners                              ? "align_corners"
                     : o.Flag("half_pixel_centers", true) ? "half_pixel"
                                                          : "asymmetric";
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < 2; ++i) {
    const int axis = x.rank() - 2 + i;
    const auto extent = o.Extent(x, axis);
    const double factor =
        o.Number(i == 0 ? "scale_factor_height" : "scale_factor_width", 1);
    if (!extent) return;
    const auto out =
        static_cast<int64_t>(std::floor(static_cast<double>(*extent) * factor));
    if (!o.CheckRange("scale factor", out)) return;
    axes.push_back({.axis = axis, .in = Dim(*extent), .out = Dim(out)});
  }
  o.SetOutput(0, ResizeAxes(spec, axes, x));
}

void ResizeBilinear(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const std::string mode = o.Text("sampling_mode", "DEFAULT");
  ops::ResizeSpec spec;
  spec.mode = "linear";
  if (mode == "STRICT_ALIGN_CORNERS" || mode == "ALIGN_CORNERS") {
    spec.coordinates = "align_corners";
  } else if (mode == "DEFAULT" || mode == "OFFSET_CORNERS") {
    spec.coordinates = "asymmetric";
  } else if (mode == "UNALIGN_CORNERS") {
    spec.coordinates = "half_pixel";
  } else {
    return o.FailUnsupported("sampling_mode: found '" + mode + "'");
  }
  if (mode == "OFFSET_CORNERS")
    return o.FailUnsupported("sampling_mode: found '" + mode + "'");
  const int axis = x.rank() - 2;
  const int64_t sizes[] = {o.Integer("target_size_height", 1),
                           o.Integer("target_size_width", 1)};
  if (!o.CheckRange("target_size", sizes[0]) ||
      !o.CheckRange("target_size", sizes[1]))
    return;
  o.SetOutput(
      0, ResizeAxes(
             spec,
             {{.axis = axis, .in = x.dim(axis), .out = Dim(sizes[0])},
              {.axis = axis + 1, .in = x.dim(axis + 1), .out = Dim(sizes[1])}},
             x));
}

// Imports classify. Results are the label with the best probability, and all
// probabilities in the order of the labels.
void Classify(MilOperation& o) {
  const Tensor probabilities = o.Input("probabilities");
  const std::vector<std::string> texts = o.Texts("classes");
  std::vector<int64_t> labels;
  for (const std::string& text : texts)
    labels.push_back(o.builder().StringHandle(text));
  if (texts.empty()) labels = o.Integers("classes");
  if (!o.ok()) return;
  Dim count(1);
  for (const Dim& dim : probabilities.shape()) count = count * dim;
  const Tensor scores = Reshape(probabilities, {count});
  const StatusOr<Tensor> label = BestLabel(o.builder(), scores, labels);
  if (!label.ok()) return o.Fail(label.status());
  o.SetOutput(0, *label, texts.empty() ? "" : "string");
  o.SetOutput(1, scores);
}

constexpr MilRow kRows[] = {
    {"avg_pool", Pool<PoolKind::kAverage>},
    {"batch_norm", BatchNorm},
    {"classify", Classify},
    {"conv", Convolution},
    {"conv_transpose", ConvolutionTranspose},
    {"instance_norm", InstanceNorm},
    {"l2_norm", L2Norm},
    {"l2_pool", Pool<PoolKind::kL2>},
    {"layer_norm", LayerNorm},
    {"linear", Linear},
    {"local_response_norm", LocalResponseNorm},
    {"matmul", Matmul},
    {"max_pool", Pool<PoolKind::kMax>},
    {"resize_bilinear", ResizeBilinear},
    {"scaled_dot_product_attention", Attention},
    {"softmax", SoftmaxAlong},
    {"upsample_bilinear", UpsampleBilinear},
    {"upsample_nearest_neighbor", UpsampleNearest},
};

}  // namespace

std::span<const MilRow> MilLayers() { return kRows; }

}  // namespace ember::coreml

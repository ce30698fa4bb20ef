// Pooling and its inverse. Caffe rounds the number of windows up, and then
// drops those that would begin in the padding after the image.
#include "frontends/ops/pooling.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "frontends/caffe/layer_table.h"
#include "frontends/ops/resize.h"
#include "frontends/ops/windows.h"

namespace ember::caffe {
namespace {

using ops::Window;

struct Sizes {
  int64_t kernel = 1, stride = 1, pad = 0;
};

// Adds one dim to the window; false after an error.
bool AddDim(LayerContext& c, int i, const Sizes& sizes, int64_t extent,
            bool any_padding, bool round_up, Window& window) {
  const auto [kernel, stride, pad] = sizes;
  if (!c.CheckRange("kernel_size", kernel) || !c.CheckRange("stride", stride) ||
      !c.CheckRange("pad", pad, 0))
    return false;
  const int64_t room = extent + 2 * pad - kernel;
  if (pad >= kernel || room < 0) {
    c.FailInvalid(
        "expected padding below the kernel's size, and a kernel "
        "within the padded bottom, found kernel " +
        std::to_string(kernel) + ", padding " + std::to_string(pad) +
        " and extent " + std::to_string(extent));
    return false;
  }
  int64_t outputs = (round_up ? room + stride - 1 : room) / stride + 1;
  if (any_padding && (outputs - 1) * stride >= extent + pad) --outputs;
  if ((outputs - 1) * stride >= extent + pad) {
    c.FailUnsupported("the last window sees nothing: stride " +
                      std::to_string(stride) + ", kernel " +
                      std::to_string(kernel) + ", extent " +
                      std::to_string(extent));
    return false;
  }
  window.kernel[i] = kernel;
  window.strides[i] = stride;
  const int64_t high =
      std::max<int64_t>((outputs - 1) * stride + kernel - extent - pad, 0);
  window.low[i] = Dim(pad);
  window.high[i] = Dim(high);
  window.ceil_extra[i] = Dim(std::max<int64_t>(high - pad, 0));
  return true;
}

std::optional<Window> ReadWindow(LayerContext& c, const PoolingParameter& p,
                                 const std::vector<int64_t>& extents) {
  Sizes rows{p.has_kernel_h() ? p.kernel_h() : p.kernel_size(),
             p.has_stride_h() ? p.stride_h()
             : p.has_stride() ? p.stride()
                              : 1,
             p.has_pad_h() ? p.pad_h() : p.pad()};
  Sizes columns{p.has_kernel_w() ? p.kernel_w() : p.kernel_size(),
                p.has_stride_w() ? p.stride_w()
                : p.has_stride() ? p.stride()
                                 : 1,
                p.has_pad_w() ? p.pad_w() : p.pad()};
  if (p.global_pooling()) {
    rows.kernel = extents[0];
    columns.kernel = extents[1];
  }
  const bool any_padding = rows.pad > 0 || columns.pad > 0;
  const bool round_up =
      p.round_mode() == PoolingParameter::CEIL && p.ceil_mode();
  Window window = ops::WindowOf({1, 1});
  if (!AddDim(c, 0, rows, extents[0], any_padding, round_up, window) ||
      !AddDim(c, 1, columns, extents[1], any_padding, round_up, window))
    return std::nullopt;
  return window;
}

// Returns the index in the image (row * width + column) of the largest element
// of each window; of equal elements, the first.
Tensor Mask(LayerContext& c, const Tensor& x, const Window& window,
            const std::vector<int64_t>& extents) {
  constexpr int64_t kMaxPositions = 256;
  if (window.kernel[0] * window.kernel[1] > kMaxPositions) {
    c.FailUnsupported("a second top: expected a window of at most " +
                      std::to_string(kMaxPositions) + " positions");
    return x;
  }
  const Tensor padded =
      Pad(x, {Dim(0), Dim(0), window.low[0], window.low[1]},
          {Dim(0), Dim(0), window.high[0], window.high[1]}, "constant",
          x.Like(-std::numeric_limits<double>::infinity()));
  Tensor best, where;
  for (int64_t i = 0; i < window.kernel[0]; ++i) {
    for (int64_t j = 0; j < window.kernel[1]; ++j) {
      std::vector<Tensor> places;
      Tensor values = padded;
      for (int d = 0; d < 2; ++d) {
        const int64_t first = d == 0 ? i : j;
        const int64_t outputs = (extents[d] + window.low[d].constant() +
                                 window.high[d].constant() - window.kernel[d]) /
                                    window.strides[d] +
                                1;
        values = SliceAxis(values, 2 + d, Dim(first), Dim(outputs),
                           window.strides[d]);
        const Tensor steps = IotaVector(c.builder(), Dim(outputs), DType::kF32);
        places.push_back(ops::AlongAxis(
            steps * static_cast<double>(window.strides[d]) +
                static_cast<double>(first - window.low[d].constant()),
            2 + d, 4));
      }
      const Tensor place =
          places[0] * static_cast<double>(extents[1]) + places[1];
      if (!c.ok()) return x;
      if (!best) {
        best = values;
        where = Broadcast(place, values.shape());
        continue;
      }
      // An element replaces the largest so far if it is larger, or if it is the
      // first NaN (docs/arithmetic.md).
      const Tensor better =
          And(Not(LessEqual(values, best)), Equal(best, best));
      best = Select(better, values, best);
      where = Select(better, place, where);
    }
  }
  return where;
}

Tensor Pool(LayerContext& c, const Tensor& x,
            PoolingParameter::PoolMethod method, const Window& window) {
  switch (method) {
    case PoolingParameter::MAX:
      return ReduceWindow(x, "maximum", window, 2);
    case PoolingParameter::AVE:
      return AveragePool(x, window, 2, /*include_pad=*/true);
    case PoolingParameter::STOCHASTIC:
      break;
  }
  // Stochastic pooling draws an element of each window at random in training.
  // Here it returns the expectation: the mean in which each element is weighted
  // by its share of the window's sum.
  return ReduceWindow(x * x, "sum", window, 2) /
         (ReduceWindow(x, "sum", window, 2) +
          static_cast<double>(std::numeric_limits<float>::min()));
}

}  // namespace

void ImportPooling(LayerContext& c) {
  const PoolingParameter& p = c.layer().pooling_param();
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const auto extents = c.Extents(x, 2, 4);
  if (!extents) return;
  const std::optional<Window> window = ReadWindow(c, p, *extents);
  if (!window) return;
  c.SetOutput(0, Pool(c, x, p.pool(), *window));
  if (c.output_count() < 2) return;
  if (p.pool() != PoolingParameter::MAX)
    return c.FailInvalid("expected one top of this kind of pooling, found two");
  c.SetOutput(1, Mask(c, x, *window, *extents));
}

// Pools into 1, 4, 16 … bins, and concatenates them.
void ImportSpp(LayerContext& c) {
  const SPPParameter& p = c.layer().spp_param();
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const auto extents = c.Extents(x, 2, 4);
  constexpr int64_t kMaxHeight = 16;
  if (!extents) return;
  if (!c.CheckRange("pyramid_height", p.pyramid_height(), 1, kMaxHeight))
    return;
  std::vector<Tensor> levels;
  for (int64_t level = 0; level < p.pyramid_height(); ++level) {
    const int64_t bins = int64_t{1} << level;
    Window window = ops::WindowOf({1, 1});
    Sizes sizes[2];
    for (int d = 0; d < 2; ++d) {
      sizes[d].kernel = DivideRoundingUp((*extents)[d], bins);
      sizes[d].stride = sizes[d].kernel;
      sizes[d].pad = (sizes[d].kernel * bins - (*extents)[d] + 1) / 2;
    }
    const bool any_padding = sizes[0].pad > 0 || sizes[1].pad > 0;
    for (int d = 0; d < 2; ++d) {
      if (!AddDim(c, d, sizes[d], (*extents)[d], any_padding, true, window))
        return;
    }
    const Tensor pooled = Pool(c, x, p.pool(), window);
    if (!c.ok()) return;
    if (p.pyramid_height() == 1) return c.SetOutput(0, pooled);
    levels.push_back(
        Reshape(pooled, {pooled.dim(0), ElementCount(pooled.shape(), 1, 4)}));
  }
  c.SetOutput(0, Concat(levels, 1));
}

// Inverts a Pooling by its mask, with zeros elsewhere. Without a mask it
// repeats each pixel.
void ImportUpsample(LayerContext& c) {
  const UpsampleParameter& p = c.layer().upsample_param();
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const int64_t factors[2] = {p.has_scale_h() ? p.scale_h() : p.scale(),
                              p.has_scale_w() ? p.scale_w() : p.scale()};
  if (!c.CheckRange("scale", factors[0]) || !c.CheckRange("scale", factors[1]))
    return;
  if (c.input_count() == 1) {
    return c.SetOutput(
        0, RepeatEach(RepeatEach(x, 2, Dim(factors[0])), 3, Dim(factors[1])));
  }
  const Tensor mask = c.Input(1);
  if (mask.shape() != x.shape()) {
    return c.FailInvalid("expected a mask of the first bottom's shape " +
                         graph::ShapeToString(x.shape()) + ", found " +
                         graph::ShapeToString(mask.shape()));
  }
  const auto extents = c.Extents(x, 2, 4);
  if (!extents) return;
  const int64_t sizes[2] = {
      p.has_upsample_h() ? p.upsample_h()
                         : (*extents)[0] * factors[0] - (p.pad_out_h() ? 1 : 0),
      p.has_upsample_w()
          ? p.upsample_w()
          : (*extents)[1] * factors[1] - (p.pad_out_w() ? 1 : 0)};
  if (!c.CheckRange("upsample_h", sizes[0]) ||
      !c.CheckRange("upsample_w", sizes[1]))
    return;
  const Dim plane = Dim(sizes[0]) * Dim(sizes[1]);
  const Shape flat{x.dim(0), x.dim(1), x.dim(2) * x.dim(3)};
  const Tensor y =
      Apply("scatter_elements",
            {Broadcast(x.Like(0), {x.dim(0), x.dim(1), plane}),
             Cast(Reshape(mask, flat), DType::kI64), Reshape(x, flat)},
            {{"axis", int64_t{2}}, {"update", std::string("assign")}});
  if (!c.ok()) return;
  c.SetOutput(0,
              Reshape(y, {x.dim(0), x.dim(1), Dim(sizes[0]), Dim(sizes[1])}));
}

// Imports Interp: bilinear interpolation with aligned corners.
void ImportInterp(LayerContext& c) {
  const InterpParameter& p = c.layer().interp_param();
  if (!c.CheckRank(0, 4, 4)) return;
  Tensor x = c.Input(0);
  const auto extents = c.Extents(x, 2, 4);
  if (!extents) return;
  if (p.pad_beg() > 0 || p.pad_end() > 0 || p.pad_beg() < -ops::kMaxWindow ||
      p.pad_end() < -ops::kMaxWindow)
    return c.FailInvalid("pad_beg, pad_end: expected 0, or less to crop");
  if (!c.CheckRange("zoom_factor", p.zoom_factor()) ||
      !c.CheckRange("shrink_factor", p.shrink_factor()))
    return;
  std::vector<ops::ResizedAxis> axes;
  for (int d = 0; d < 2; ++d) {
    const int64_t in = (*extents)[d] + p.pad_beg() + p.pad_end();
    int64_t out = in;
    if (p.has_shrink_factor() || p.has_zoom_factor()) {
      out = (out - 1) / p.shrink_factor() + 1;
      out += (out - 1) * (p.zoom_factor() - 1);
    } else if (p.has_height() && p.has_width()) {
      out = d == 0 ? p.height() : p.width();
    } else {
      return c.FailInvalid(
          "expected zoom_factor, shrink_factor, or height and width, found "
          "none");
    }
    if (!c.CheckRange("cropped extent", in) || !c.CheckRange("extent", out))
      return;
    x = SliceAxis(x, 2 + d, Dim(-p.pad_beg()), Dim(in));
    axes.push_back({.axis = 2 + d, .in = Dim(in), .out = Dim(out)});
  }
  ops::ResizeSpec spec;
  spec.mode = "linear";
  spec.coordinates = "align_corners";
  c.SetOutput(0, ResizeAxes(spec, axes, x));
}

}  // namespace ember::caffe

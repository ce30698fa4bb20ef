// Imports Convolution and Deconvolution of any number of spatial dims,
// InnerProduct, Im2col. All bottoms of a layer use the same weights.
#include "frontends/ops/convolution.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "frontends/caffe/layer_table.h"
#include "frontends/ops/windows.h"

namespace ember::caffe {
namespace {

using ops::ConvSpec;
using ops::ConvTransposeSpec;
using ops::Window;

// Reads a field that has one value for all spatial dims, or one for each;
// without values, all are `otherwise`. Returns false after an error.
template <typename Field>
bool ReadSpatial(LayerContext& c, std::string_view what, const Field& values,
                 int64_t otherwise, int64_t minimum,
                 std::vector<int64_t>& sizes) {
  const size_t rank = sizes.size();
  if (values.size() > 1 && static_cast<size_t>(values.size()) != rank) {
    c.FailInvalid(std::string(what) + ": expected one value or " +
                  std::to_string(rank) + ", found " +
                  std::to_string(values.size()));
    return false;
  }
  for (size_t i = 0; i < rank; ++i) {
    sizes[i] = values.size() == 0   ? otherwise
               : values.size() == 1 ? values.Get(0)
                                    : values.Get(static_cast<int>(i));
    if (!c.CheckRange(what, sizes[i], minimum)) return false;
  }
  return true;
}

// Reads the fields NAME_h and NAME_w, if the layer has them, into `sizes`. Only
// layers with two spatial dims may have them. Returns false after an error.
bool ReadPair(LayerContext& c, std::string_view what, bool has, int64_t height,
              int64_t width, int64_t minimum, std::vector<int64_t>& sizes) {
  if (!has) return true;
  if (sizes.size() != 2) {
    c.FailInvalid(std::string(what) + "_h, " + std::string(what) +
                  "_w: expected two spatial dims, found " +
                  std::to_string(sizes.size()));
    return false;
  }
  sizes = {height, width};
  return c.CheckRange(what, height, minimum) &&
         c.CheckRange(what, width, minimum);
}

std::optional<Window> ReadWindow(LayerContext& c, const ConvolutionParameter& p,
                                 int rank) {
  const auto count = static_cast<size_t>(rank);
  std::vector<int64_t> kernel(count), strides(count), dilations(count),
      pads(count);
  const bool by_name = p.has_kernel_h() || p.has_kernel_w();
  if (!by_name && p.kernel_size_size() == 0) {
    c.FailInvalid("expected a kernel_size, found none");
    return std::nullopt;
  }
  if (!ReadSpatial(c, "kernel_size", p.kernel_size(), 1, 1, kernel) ||
      !ReadPair(c, "kernel", by_name, p.kernel_h(), p.kernel_w(), 1, kernel) ||
      !ReadSpatial(c, "stride", p.stride(), 1, 1, strides) ||
      !ReadPair(c, "stride", p.has_stride_h() || p.has_stride_w(),
                p.has_stride_h() ? p.stride_h() : 1,
                p.has_stride_w() ? p.stride_w() : 1, 1, strides) ||
      !ReadSpatial(c, "pad", p.pad(), 0, 0, pads) ||
      !ReadPair(c, "pad", p.has_pad_h() || p.has_pad_w(), p.pad_h(), p.pad_w(),
                0, pads) ||
      !ReadSpatial(c, "dilation", p.dilation(), 1, 1, dilations))
    return std::nullopt;
  Window window = ops::WindowOf(std::move(kernel));
  window.strides = std::move(strides);
  window.dilations = std::move(dilations);
  window.low = window.high = ShapeOf(pads);
  return window;
}

// Merges the dims before the channels into one, [lead, C, spatial…].
// WithLeadingDims splits that dim again.
Tensor WithOneLeadingDim(const Tensor& x, int axis) {
  if (axis == 1) return x;
  Shape shape{ElementCount(x.shape(), 0, static_cast<size_t>(axis))};
  shape.insert(shape.end(), x.shape().begin() + axis, x.shape().end());
  return Reshape(x, shape);
}

Tensor WithLeadingDims(const Tensor& y, const Tensor& x, int axis) {
  if (axis == 1) return y;
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), y.shape().begin() + 1, y.shape().end());
  return Reshape(y, shape);
}

const FillerParameter* Given(bool has, const FillerParameter& filler) {
  return has ? &filler : nullptr;
}

struct Weights {
  Tensor kernel, bias;
};

// Imports Convolution or, if `transposed`, Deconvolution. groups: 0 means one
// group per channel.
void Convolve(LayerContext& c, bool transposed, int64_t groups) {
  const ConvolutionParameter& p = c.layer().convolution_param();
  if (c.input_count() != c.output_count()) {
    return c.FailInvalid("expected as many tops as bottoms, found " +
                         std::to_string(c.output_count()) + " and " +
                         std::to_string(c.input_count()));
  }
  if (!c.CheckRange("num_output", p.num_output())) return;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.CheckRank(i, 3)) return;
    const Tensor x = c.Input(i);
    const int axis = c.Axis(p.axis(), x.rank());
    const int rank = x.rank() - axis - 1;
    if (rank < 1)
      return c.FailInvalid("axis: expected spatial dims behind it, found none");
    const std::optional<int64_t> channels = c.Extent(x, axis);
    const std::optional<Window> window = ReadWindow(c, p, rank);
    if (!channels || !window) return;
    if (groups == 0) groups = *channels;
    if (groups < 1 || *channels % groups != 0 || p.num_output() % groups != 0) {
      return c.FailInvalid("group: expected a divisor of " +
                           std::to_string(*channels) + " channels and of " +
                           std::to_string(p.num_output()) + " outputs, found " +
                           std::to_string(groups));
    }
    // Shape of the weights: [O, C / groups, window…], or [C, O / groups,
    // window…] if the convolution is transposed.
    std::vector<int64_t> dims =
        transposed ? std::vector<int64_t>{*channels, p.num_output() / groups}
                   : std::vector<int64_t>{p.num_output(), *channels / groups};
    dims.insert(dims.end(), window->kernel.begin(), window->kernel.end());
    Tensor w =
        c.Weight(0, dims, Given(p.has_weight_filler(), p.weight_filler()));
    const Tensor bias = p.bias_term()
                            ? c.Weight(1, {p.num_output()}, &p.bias_filler())
                            : Tensor();
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 2);
    order.push_back(transposed ? 0 : 1);
    order.push_back(transposed ? 1 : 0);
    w = Transpose(w, order);
    if (!c.ok()) return;
    const Tensor last = ops::ToChannelsLast(WithOneLeadingDim(x, axis));
    const Tensor y =
        transposed
            ? ops::ConvTranspose(
                  last, w, bias,
                  {*window, std::vector<int64_t>(static_cast<size_t>(rank), 0),
                   groups})
            : ops::Conv(last, w, bias, {*window, groups});
    c.SetOutput(i, WithLeadingDims(ops::ToChannelsFirst(y), x, axis));
  }
}

}  // namespace

void ImportConvolution(LayerContext& c) {
  Convolve(c, /*transposed=*/false,
           std::max<int64_t>(c.layer().convolution_param().group(), 1));
}

void ImportDeconvolution(LayerContext& c) {
  Convolve(c, /*transposed=*/true,
           std::max<int64_t>(c.layer().convolution_param().group(), 1));
}

// Imports a depthwise convolution. There is always one group per channel,
// whatever the net says.
void ImportDepthwiseConvolution(LayerContext& c) {
  Convolve(c, /*transposed=*/false, 0);
}

void ImportInnerProduct(LayerContext& c) {
  const InnerProductParameter& p = c.layer().inner_product_param();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.axis(), x.rank());
  const auto inner = c.Extents(x, axis, x.rank());
  if (!inner || !c.CheckRange("num_output", p.num_output())) return;
  const Dim count = ElementCount(x.shape(), static_cast<size_t>(axis),
                                 static_cast<size_t>(x.rank()));
  if (!count.is_valid() || !c.CheckRange("values per row", count.constant()))
    return;
  const int64_t k = count.constant(), n = p.num_output();
  const Tensor w = c.Weight(
      0,
      p.transpose() ? std::vector<int64_t>{k, n} : std::vector<int64_t>{n, k},
      Given(p.has_weight_filler(), p.weight_filler()));
  const Dim rows = ElementCount(x.shape(), 0, static_cast<size_t>(axis));
  Tensor y = Contract(Reshape(x, {rows, Dim(k)}), w,
                      p.transpose() ? "mk,kn->mn" : "mk,nk->mn");
  if (p.bias_term()) y = y + c.Weight(1, {n}, &p.bias_filler());
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.push_back(Dim(n));
  c.SetOutput(0, Reshape(y, shape));
}

// Imports Im2col: [N, C, h, w] becomes the elements of each window, [N, C *
// window, outputs…].
void ImportIm2col(LayerContext& c) {
  const ConvolutionParameter& p = c.layer().convolution_param();
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const std::optional<Window> window = ReadWindow(c, p, 2);
  const auto extents = c.Extents(x, 2, 4);
  if (!window || !extents) return;
  constexpr int64_t kMaxPositions = 4096;
  if (window->kernel[0] > kMaxPositions || window->kernel[1] > kMaxPositions ||
      window->kernel[0] * window->kernel[1] > kMaxPositions)
    return c.FailUnsupported("expected a kernel of at most " +
                             std::to_string(kMaxPositions) + " positions");
  std::vector<int64_t> outputs;
  for (int i = 0; i < 2; ++i) {
    const int64_t pad = window->low[i].constant();
    const int64_t room = (*extents)[i] + 2 * pad - window->Reach(i);
    if (room < 0) {
      return c.FailInvalid(
          "expected a window within the padded bottom, found "
          "one of " +
          std::to_string(window->Reach(i)));
    }
    outputs.push_back(room / window->strides[i] + 1);
  }
  const Tensor padded = Pad(x, {Dim(0), Dim(0), window->low[0], window->low[1]},
                            {Dim(0), Dim(0), window->low[0], window->low[1]},
                            "constant", x.Like(0));
  std::vector<Tensor> positions;
  for (int64_t i = 0; i < window->kernel[0]; ++i) {
    for (int64_t j = 0; j < window->kernel[1]; ++j) {
      const Tensor rows = SliceAxis(padded, 2, Dim(i * window->dilations[0]),
                                    Dim(outputs[0]), window->strides[0]);
      positions.push_back(
          Unsqueeze(SliceAxis(rows, 3, Dim(j * window->dilations[1]),
                              Dim(outputs[1]), window->strides[1]),
                    {2}));
    }
  }
  const Tensor all = Concat(positions, 2);
  if (!c.ok()) return;
  c.SetOutput(0, Reshape(all, {all.dim(0), all.dim(1) * all.dim(2), all.dim(3),
                               all.dim(4)}));
}

}  // namespace ember::caffe

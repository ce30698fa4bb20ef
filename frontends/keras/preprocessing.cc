// Imports preprocessing layers that are part of a model.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"
#include "frontends/ops/resize.h"

namespace ember::keras {
namespace {

int HeightAxis(LayerContext& c, int rank) {
  return c.is_channels_first() ? rank - 2 : rank - 3;
}

// Reads a config entry that holds one number, or a list with a number for each
// element of the last dim. Returns a tensor that broadcasts along the last dim.
Tensor Numbers(LayerContext& c, std::string_view key, double otherwise,
               DType type) {
  std::vector<double> values = c.config().NumberList(key);
  if (values.empty()) values = {otherwise};
  if (values.size() == 1) return c.Scalar(values[0], type);
  return Cast(c.Vector(values), type);
}

// Cuts an axis to its middle `size` elements.
Tensor CutMiddle(Tensor x, int axis, const Dim& size) {
  return SliceAxis(x, axis, FloorDivide(x.dim(axis) - size, Dim(2)), size);
}

Tensor ResizeTo(LayerContext& c, Tensor x, int height_axis,
                const Shape& sizes) {
  const std::string mode = c.config().Text("interpolation", "bilinear");
  ops::ResizeSpec spec;
  spec.antialias = c.config().Flag("antialias", false);
  spec.coordinates = "half_pixel";
  if (mode == "bilinear") {
    spec.mode = "linear";
  } else if (mode == "nearest") {
    // Like TensorFlow, "nearest" selects the pixel of the input that contains
    // the centre of the new pixel.
    spec.mode = "nearest";
    spec.nearest = "round_prefer_ceil";
  } else if (mode == "bicubic") {
    spec.mode = "cubic";
    spec.cubic_a = -0.5;
    spec.exclude_outside = true;
  } else {
    c.FailUnsupported(
        "interpolation: expected bilinear, nearest or bicubic, found '" +
        OnOneLine(mode) + "'");
    return x;
  }
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < 2; ++i) {
    ops::ResizedAxis axis;
    axis.axis = height_axis + i;
    axis.in = x.dim(axis.axis);
    axis.out = sizes[static_cast<size_t>(i)];
    const auto in = axis.in.AsConstant(), out = axis.out.AsConstant();
    if (in && out && *in > 0)
      axis.scale = static_cast<double>(*out) / static_cast<double>(*in);
    axes.push_back(axis);
  }
  return ops::ResizeAxes(spec, axes, x);
}

bool ReadSize(LayerContext& c, Shape& sizes) {
  for (const char* key : {"height", "width"}) {
    const int64_t size = c.config().Integer(key);
    if (!c.CheckPositive(key, size)) return false;
    sizes.push_back(Dim(size));
  }
  return true;
}

DType FloatResult(Tensor x) { return x.is_float() ? x.dtype() : DType::kF32; }

// Cuts the largest rectangle with the aspect ratio of `sizes` from the middle.
Tensor CutToAspect(LayerContext& c, Tensor x, int axis, const Shape& sizes) {
  const auto height = x.dim(axis).AsConstant();
  const auto width = x.dim(axis + 1).AsConstant();
  if (!height || !width) {
    c.FailUnsupported("images of open size with an aspect ratio");
    return x;
  }
  const double target_height = static_cast<double>(sizes[0].constant());
  const double target_width = static_cast<double>(sizes[1].constant());
  const auto own_height = static_cast<double>(*height);
  const auto own_width = static_cast<double>(*width);
  const auto cut_height = static_cast<int64_t>(
      std::min(own_height, own_width * target_height / target_width));
  const auto cut_width = static_cast<int64_t>(
      std::min(own_width, own_height * target_width / target_height));
  return CutMiddle(CutMiddle(x, axis, Dim(std::max<int64_t>(cut_height, 1))),
                   axis + 1, Dim(std::max<int64_t>(cut_width, 1)));
}

// Encodes indices below `count` as output_mode says: one_hot, multi_hot or
// count. weights: one per index; absent: 1.
Tensor Encoded(LayerContext& c, Tensor x, const std::string& mode,
               int64_t count, Tensor weights) {
  const DType type = DType::kF32;
  const Tensor numbers = IotaVector(c.builder(), Dim(count), DType::kI64);
  Tensor indices = Cast(x, DType::kI64);
  if (mode == "one_hot") {
    // A last dim of 1 becomes the encoding; otherwise the encoding is appended
    // as a new dim.
    if (indices.rank() == 0 || indices.dim(-1) != Dim(1))
      indices = Unsqueeze(indices, {indices.rank()});
    return Cast(Equal(indices, numbers), type);
  }
  if (mode != "multi_hot" && mode != "count") {
    c.FailInvalid("output_mode: expected one_hot, multi_hot or count, found '" +
                  OnOneLine(mode) + "'");
    return x;
  }
  if (indices.rank() == 0) indices = Unsqueeze(indices, {0});
  const int last = indices.rank();
  Tensor hits = Cast(Equal(Unsqueeze(indices, {last}), numbers), type);
  if (mode == "multi_hot")
    return Reduce(hits, "maximum", {last - 1}, /*keep=*/false);
  if (weights) hits = hits * Unsqueeze(Cast(weights, type), {last});
  return Reduce(hits, "sum", {last - 1}, /*keep=*/false);
}

}  // namespace

void ImportRescaling(LayerContext& c) {
  const Tensor x = c.Input(0);
  const DType type = FloatResult(x);
  c.SetOutput(Cast(x, type) * Numbers(c, "scale", 1, type) +
              Numbers(c, "offset", 0, type));
}

void ImportNormalization(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = Cast(c.Input(0), FloatResult(c.Input(0)));
  const DType type = x.dtype();
  Tensor mean, variance;
  if (c.config().Has("mean")) {
    mean = Numbers(c, "mean", 0, type);
    variance = Numbers(c, "variance", 1, type);
  } else {
    mean = c.Weight("mean");
    variance = c.Weight("variance");
  }
  if (!c.ok()) return;
  // The mean and the variance have one number per element of the axes, in the
  // order of the axes.
  if (mean.rank() > 0) {
    const Config& config = c.config();
    std::vector<int64_t> given = config.IntegerList("axis");
    if (!config.Has("axis")) given = {-1};
    const std::vector<int64_t> axes = c.Axes(given, x.rank());
    if (!c.ok()) return;
    Shape shape(static_cast<size_t>(x.rank()), Dim(1));
    for (const int64_t axis : axes)
      shape[static_cast<size_t>(axis)] = x.dim(static_cast<int>(axis));
    mean = Reshape(Cast(mean, type), shape);
    variance = Reshape(Cast(variance, type), shape);
  }
  const Tensor deviation = Maximum(Sqrt(Cast(variance, type)), 1e-7);
  c.SetOutput(c.config().Flag("invert", false)
                  ? Cast(mean, type) + x * deviation
                  : (x - Cast(mean, type)) / deviation);
}

void ImportResizing(LayerContext& c) {
  if (!c.CheckRank(0, 3, 4)) return;
  Tensor x = c.Input(0);
  Shape sizes;
  if (!ReadSize(c, sizes)) return;
  const int axis = HeightAxis(c, x.rank());
  if (!x.is_float() &&
      c.config().Text("interpolation", "bilinear") != "nearest")
    x = Cast(x, DType::kF32);
  if (c.config().Flag("pad_to_aspect_ratio", false))
    return c.FailUnsupported("pad_to_aspect_ratio");
  if (c.config().Flag("crop_to_aspect_ratio", false))
    x = CutToAspect(c, x, axis, sizes);
  c.SetOutput(ResizeTo(c, x, axis, sizes));
}

// Imports CenterCrop, which cuts out the middle of an image. If the image is
// lower or narrower than the result, its largest rectangle with the result's
// aspect ratio is resized instead.
void ImportCenterCrop(LayerContext& c) {
  if (!c.CheckRank(0, 3, 4)) return;
  Tensor x = c.Input(0);
  Shape sizes;
  if (!ReadSize(c, sizes)) return;
  const int axis = HeightAxis(c, x.rank());
  for (int i = 0; i < 2; ++i) {
    const auto extent = x.dim(axis + i).AsConstant();
    if (!extent) return c.FailUnsupported("images of open size");
    if (*extent >= sizes[static_cast<size_t>(i)].constant()) continue;
    x = Cast(x, FloatResult(x));
    return c.SetOutput(
        ResizeTo(c, CutToAspect(c, x, axis, sizes), axis, sizes));
  }
  c.SetOutput(CutMiddle(CutMiddle(x, axis, sizes[0]), axis + 1, sizes[1]));
}

// Imports RandomCrop as it computes outside of training: it cuts the largest
// rectangle with the result's aspect ratio from the middle, and resizes it.
void ImportRandomCrop(LayerContext& c) {
  if (!c.CheckRank(0, 3, 4)) return;
  const Tensor x = Cast(c.Input(0), FloatResult(c.Input(0)));
  Shape sizes;
  if (!ReadSize(c, sizes)) return;
  const int axis = HeightAxis(c, x.rank());
  c.SetOutput(ResizeTo(c, CutToAspect(c, x, axis, sizes), axis, sizes));
}

void ImportCategoryEncoding(LayerContext& c) {
  const int64_t count = c.config().Integer("num_tokens");
  if (!c.CheckPositive("num_tokens", count)) return;
  const std::string mode = c.config().Text("output_mode", "multi_hot");
  Tensor weights = c.NamedTensor("count_weights");
  if (weights && mode != "count")
    return c.FailInvalid("count_weights: expected output_mode count");
  c.SetOutput(Encoded(c, c.Input(0), mode, count, weights));
}

// Imports Discretization. The bucket of an element is the number of boundaries
// that are not above the element.
void ImportDiscretization(LayerContext& c) {
  const Tensor x = c.Input(0);
  const std::vector<double> boundaries =
      c.config().NumberList("bin_boundaries");
  if (boundaries.empty()) {
    return c.FailUnsupported(
        "bin_boundaries: expected them in the configuration, found none");
  }
  const int last = x.rank();
  const Tensor wide = Cast(x, DType::kF32);
  const Tensor above = Cast(
      LessEqual(c.Vector(boundaries), Unsqueeze(wide, {last})), DType::kI32);
  const Tensor bins = Reduce(above, "sum", {last}, /*keep=*/false);
  const std::string mode = c.config().Text("output_mode", "int");
  if (mode == "int") return c.SetOutput(Cast(bins, DType::kI64));
  c.SetOutput(Encoded(c, bins, mode,
                      static_cast<int64_t>(boundaries.size()) + 1, Tensor()));
}

}  // namespace ember::keras

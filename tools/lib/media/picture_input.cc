#include "tools/lib/media/picture_input.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/lib/media/resize.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

using Fit = PictureOptions::Fit;

// The layout of an input that takes a picture. A height or width of 0 is open.
struct Layout {
  int64_t batch = 1, channels = 1, height = 0, width = 0;
  bool channels_first = true;
};

bool IsChannels(int64_t dim) { return dim == 1 || dim == 3; }

// Returns the layout of an input with these dims; negative dims are open.
// Returns nothing if the input cannot take a picture.
std::optional<Layout> LayoutOf(std::span<const int64_t> dims,
                               std::optional<bool> channels_first) {
  const size_t rank = dims.size();
  if (rank < 2 || rank > 4) return std::nullopt;
  const auto open = [](int64_t dim) { return std::max<int64_t>(dim, 0); };
  Layout layout;
  if (rank == 4) layout.batch = std::max<int64_t>(dims[0], 1);
  std::span<const int64_t> rest = dims.subspan(rank == 4 ? 1 : 0);
  if (rank == 2) {
    // An input [1, N] or [N, 1] is a vector of features, not a picture.
    if (rest[0] == 1 || rest[1] == 1) return std::nullopt;
    layout.height = open(rest[0]);
    layout.width = open(rest[1]);
    return layout;
  }
  bool is_first = IsChannels(rest[0]);
  const bool is_last = IsChannels(rest[2]);
  // In [1, 3, 224, 1] both 3 and 1 may be the channels. The user's option
  // `layout` then decides.
  if (channels_first) {
    if (!(*channels_first ? is_first : is_last)) return std::nullopt;
    is_first = *channels_first;
  } else if (!is_first && !is_last) {
    return std::nullopt;
  }
  layout.channels_first = is_first;
  layout.channels = is_first ? rest[0] : rest[2];
  layout.height = open(rest[is_first ? 1 : 0]);
  layout.width = open(rest[is_first ? 2 : 1]);
  return layout;
}

double Grey(const uint8_t* pixel) {
  // The weights of red, green and blue and the rounding are the same as in the
  // Python library Pillow.
  return (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16;
}

std::string RoundedText(double value) {
  return std::to_string(static_cast<int64_t>(std::lround(value)));
}

int64_t Scaled(int64_t extent, double factor) {
  return std::max<int64_t>(1,
                           std::lround(static_cast<double>(extent) * factor));
}

// The size to which a picture is resized, before it is cropped or padded to the
// input's size. `text` says why, for the user.
struct Target {
  int64_t width, height;
  std::string text;
};

Target TargetOf(const Picture& picture, int64_t width, int64_t height,
                const PictureOptions& options) {
  const double x = static_cast<double>(width) / picture.width;
  const double y = static_cast<double>(height) / picture.height;
  if (options.resize) {
    return {options.resize->width, options.resize->height,
            "resized to " + std::to_string(options.resize->width) + "x" +
                std::to_string(options.resize->height)};
  }
  if (options.shorter_side || options.fit == Fit::kCrop) {
    double factor = std::max(x, y) * options.margin;
    if (options.shorter_side) {
      factor = static_cast<double>(*options.shorter_side) /
               std::min(picture.width, picture.height);
    }
    return {Scaled(picture.width, factor), Scaled(picture.height, factor),
            "shorter side to " +
                RoundedText(factor * std::min(picture.width, picture.height))};
  }
  if (options.fit == Fit::kPad) {
    const double factor = std::min(x, y);
    return {Scaled(picture.width, factor), Scaled(picture.height, factor),
            "longer side to " +
                RoundedText(factor * std::max(picture.width, picture.height)) +
                ", padded with black"};
  }
  return {width, height, ""};
}

// Maps a pixel's value in one channel to the input's value: scales and
// normalises it as the options say, and clamps it to the type's range.
struct Normaliser {
  const PictureOptions& options;
  double lowest, highest;
  // The scale of a quantised input: a value v is stored as v / step +
  // zero_point.
  double step = 1, zero_point = 0;

  double operator()(double pixel, size_t channel) const {
    const auto of = [channel](const std::vector<double>& numbers) {
      return numbers[numbers.size() == 1 ? 0 : channel];
    };
    const double value =
        (pixel * options.scale - of(options.mean)) / of(options.std);
    return std::clamp(value / step + zero_point, lowest, highest);
  }
};

void Fill(const Picture& picture, const Layout& layout,
          const Normaliser& normalise, bool is_bgr, vm::Tensor& tensor) {
  const bool is_float = IsFloat(tensor.type);
  const int64_t area = int64_t{picture.width} * picture.height;
  for (int64_t n = 0; n < layout.batch; ++n) {
    for (int64_t i = 0; i < area; ++i) {
      const uint8_t* pixel = picture.at(static_cast<int>(i % picture.width),
                                        static_cast<int>(i / picture.width));
      for (int64_t c = 0; c < layout.channels; ++c) {
        const double x = layout.channels == 1
                             ? Grey(pixel)
                             : pixel[is_bgr ? layout.channels - 1 - c : c];
        const double value = normalise(x, static_cast<size_t>(c));
        const int64_t at =
            n * area * layout.channels +
            (layout.channels_first ? c * area + i : i * layout.channels + c);
        if (is_float) {
          SetFloatElement(tensor, at, value);
        } else {
          SetIntegerElement(tensor, at,
                            static_cast<int64_t>(std::lround(value)));
        }
      }
    }
  }
}

Status NoPicture(const vm::TensorSignature& input, std::string_view found,
                 std::string_view cure) {
  return InvalidArgumentError(
      "input '" + input.name +
      "': expected the shape of a picture, 1x3xHxW, 1xHxWx3 or HxW (1 or 3 "
      "channels), found " +
      std::string(found) + "; " + std::string(cure));
}

std::string DimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims)
    text += (text.empty() ? "" : "x") + (dim < 0 ? "?" : std::to_string(dim));
  return text.empty() ? "a scalar" : text;
}

}  // namespace

StatusOr<Picture> FitPicture(const Picture& picture, int64_t width,
                             int64_t height, const PictureOptions& options,
                             PictureView& view, std::string& text) {
  const std::optional<PictureOptions::Size> open =
      options.crop ? options.crop : options.resize;
  if (width == 0) width = open ? open->width : picture.width;
  if (height == 0) height = open ? open->height : picture.height;
  if (options.crop &&
      (options.crop->width != width || options.crop->height != height)) {
    return InvalidArgumentError(
        "--image: expected crop=" + std::to_string(width) + "x" +
        std::to_string(height) + ", the input's size, found " +
        std::to_string(options.crop->width) + "x" +
        std::to_string(options.crop->height));
  }
  const Target target = TargetOf(picture, width, height, options);
  EMBER_ASSIGN_OR_RETURN(
      Picture resized,
      Resize(picture, target.width, target.height, options.filter));
  const bool pads =
      options.fit == Fit::kPad && !options.resize && !options.shorter_side;
  const int64_t left = pads ? 0 : (target.width - width) / 2;
  const int64_t top = pads ? 0 : (target.height - height) / 2;
  text = picture.SizeText() + " → " + std::to_string(width) + "x" +
         std::to_string(height);
  if (!target.text.empty()) text += ", " + target.text;
  if (target.width > width || target.height > height)
    text += ", centre cropped";
  else if (!pads && (target.width < width || target.height < height))
    text += ", black around it";
  if (target.width != picture.width || target.height != picture.height)
    text += ", " + std::string(FilterName(options.filter));
  view.x_scale = static_cast<double>(picture.width) / target.width;
  view.y_scale = static_cast<double>(picture.height) / target.height;
  view.left = static_cast<double>(left) * view.x_scale;
  view.top = static_cast<double>(top) * view.y_scale;
  view.width = static_cast<int>(width);
  view.height = static_cast<int>(height);
  return Crop(resized, left, top, width, height);
}

StatusOr<PictureInput> MakePictureInput(const Picture& picture,
                                        const vm::TensorSignature& input,
                                        const PictureOptions& options) {
  const std::optional<Layout> layout =
      LayoutOf(input.dims, options.channels_first);
  if (!layout) {
    return NoPicture(input, DimsText(input.dims),
                     "if an extent is open, compile with --shape=" +
                         input.name + "=...; or give a .npy file");
  }
  const bool is_float = IsFloat(input.type);
  if (input.logical_type == vm::kStringType || input.type == DType::kBool) {
    return NoPicture(input, "elements that are no numbers",
                     "give the file's contents in another form");
  }
  for (const std::vector<double>* numbers : {&options.mean, &options.std}) {
    if (numbers->size() != 1 &&
        static_cast<int64_t>(numbers->size()) != layout->channels) {
      return InvalidArgumentError(
          "--image: expected one mean and std for the " +
          std::to_string(layout->channels) + " channels of input '" +
          input.name + "' or one for each, found " +
          std::to_string(numbers->size()));
    }
  }
  PictureInput made;
  EMBER_ASSIGN_OR_RETURN(const Picture fitted,
                         FitPicture(picture, layout->width, layout->height,
                                    options, made.view, made.text));
  std::vector<int64_t> dims = {fitted.height, fitted.width};
  if (input.dims.size() > 2)
    dims.insert(layout->channels_first ? dims.begin() : dims.end(),
                layout->channels);
  if (input.dims.size() == 4) dims.insert(dims.begin(), layout->batch);
  EMBER_ASSIGN_OR_RETURN(made.tensor,
                         vm::Tensor::Allocate(input.type, std::move(dims)));

  PictureOptions used = options;
  std::string note;
  if (!options.is_normalisation_known && is_float) {
    used.scale = 1.0 / 255;
    note = " (a guess: --image=imagenet, caffe, tf, unit, raw or mean=...)";
  } else if (!options.is_normalisation_known && input.type == DType::kI8) {
    used.mean = {128};
  }
  Normaliser normalise{used, -INFINITY, INFINITY};
  if (!is_float) {
    const int bits = std::min<int>(8 * DTypeByteSize(input.type), 32);
    const bool is_signed = IsSigned(input.type);
    normalise.lowest = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    normalise.highest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
    if (used.step && used.is_normalisation_known) {
      normalise.step = *used.step;
      normalise.zero_point = static_cast<double>(used.zero_point);
      note = ", quantised as the model says";
    }
  }
  Fill(fitted, *layout, normalise, used.is_bgr, made.tensor);
  if (layout->batch > 1)
    made.text += ", " + std::to_string(layout->batch) + " times";
  made.text += layout->channels == 1 ? ", grey"
               : used.is_bgr         ? ", BGR"
                                     : ", RGB";
  made.text += ", " + used.FormulaText() + note;
  if (!options.source.empty()) made.text += ", from " + options.source;
  return made;
}

}  // namespace ember::tools

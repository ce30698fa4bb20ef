// The options with which a picture becomes a tensor: the value of --image, and
// what a model's metadata says.
//
//   PictureOptions options = PictureOptionsOfModel(metadata, 0, signature);
//   EMBER_RETURN_IF_ERROR(ParsePictureOptions("imagenet,order=bgr", options));
//
// The text is a list of items with commas between them. Later items win.
//
//   imagenet   (x/255 - mean) / std of torchvision's models; the shorter side
//              is resized to 256/224 of the input's, and the centre is cropped
//   caffe      BGR, x - mean (104, 117, 123)
//   tf         x/127.5 - 1, from -1 to 1
//   unit       x/255, from 0 to 1
//   raw        x, from 0 to 255
//   resize=256, resize=256x320   the shorter side, or width x height
//   crop=224, crop=224x160       the centre of what resize gives
//   fit=stretch|crop|pad         how the picture fits into the input if neither
//                                resize nor crop is given
//   filter=bilinear|bicubic|nearest
//   order=rgb|bgr   layout=nchw|nhwc
//   scale=X   mean=X or X,X,X   std=X or X,X,X     (pixel * scale - mean) / std
//
// A mean can also be a file, mean=@FILE.npy, of [C], [C, H, W] or [H, W, C];
// its mean over all pixels is used. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_PICTURE_OPTIONS_H_
#define EMBER_TOOLS_LIB_MEDIA_PICTURE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/media/resize.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

struct PictureOptions {
  enum class Fit : uint8_t {
    kStretch,  // Width and height are resized separately to the input's size.
    // The picture is scaled until its shorter side fits the input; the ends of
    // the longer side are cut off.
    kCrop,
    // The picture is scaled until its longer side fits the input; black pixels
    // are added at the right or below.
    kPad,
  };
  struct Size {
    int64_t width = 0, height = 0;
  };

  Fit fit = Fit::kStretch;
  Filter filter = Filter::kBilinear;
  // The shorter side is resized to this factor times the input's side. The
  // preset imagenet sets it, so that the centre is cropped.
  double margin = 1;
  std::optional<int64_t> shorter_side;
  std::optional<Size> resize, crop;
  bool is_bgr = false;
  std::optional<bool> channels_first;  // nothing: the input's shape decides
  // A pixel x becomes (x * scale - mean) / std. Each list has one number for
  // all channels, or one for each channel in the tensor's order.
  double scale = 1;
  std::vector<double> mean = {0}, std = {1};
  // In a quantised input, the integer q represents (q - zero_point) * step.
  // Nothing: the input is not known to be quantised.
  std::optional<double> step;
  int64_t zero_point = 0;
  // True if scale, mean and std come from metadata or from the user, not from
  // the defaults above.
  bool is_normalisation_known = false;
  std::string source;  // origin of the options, for messages: "--image" or a
                       // metadata key

  // Describes how a pixel x becomes a number, such as "x/255" or "(x/255 -
  // 0.485,0.456,0.406) / 0.2".
  std::string FormulaText() const;
};

// Parses the items of `text` (as above) and changes the options. Errors name
// the item.
Status ParsePictureOptions(std::string_view text, PictureOptions& options);

// Returns the options that metadata gives for an input: tflite.input.N.mean,
// .std, .scale and .zero_point, WinML's onnx.metadata.Image.BitmapPixelFormat
// and .NominalPixelRange, and coreml.input.NAME.color.
PictureOptions PictureOptionsOfModel(
    std::span<const vm::MetadataEntry> metadata, size_t number,
    const vm::TensorSignature& input);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_PICTURE_OPTIONS_H_

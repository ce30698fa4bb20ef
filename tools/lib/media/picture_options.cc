#include "tools/lib/media/picture_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/did_you_mean.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/tensors/elements.h"
#include "tools/lib/tensors/spec.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

using Fit = PictureOptions::Fit;

constexpr int64_t kMaxSide = 1 << 16;
constexpr std::string_view kKeys[] = {"resize", "crop",  "fit",
                                      "filter", "order", "layout",
                                      "scale",  "mean",  "std"};

struct Normalisation {
  std::string_view name;
  double scale;
  std::vector<double> mean, std;
  bool is_bgr = false;
};

const std::vector<Normalisation>& Presets() {
  static const auto* const presets = new std::vector<Normalisation>{
      {"imagenet", 1.0 / 255, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
      {"caffe", 1, {104, 117, 123}, {1}, true},
      {"tf", 1 / 127.5, {1}, {1}},
      {"unit", 1.0 / 255, {0}, {1}},
      {"raw", 1, {0}, {1}},
  };
  return *presets;
}

// Parses a number or a fraction such as "1/255". Returns nothing if the text is
// neither, or if the value is not finite.
std::optional<double> ParseNumber(std::string_view text) {
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::optional<double> over = ParseNumber(text.substr(0, slash));
    const std::optional<double> under = ParseNumber(text.substr(slash + 1));
    if (!over || !under || *under == 0) return std::nullopt;
    return *over / *under;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> ParseSide(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > kMaxSide)
    return std::nullopt;
  return value;
}

Status Wrong(std::string_view item, std::string_view expected) {
  return CommandLineError("--image: expected " + std::string(expected) +
                          ", found '" + std::string(item) + "'");
}

void SetNumbers(const Normalisation& from, PictureOptions& options) {
  options.scale = from.scale;
  options.mean = from.mean;
  options.std = from.std;
  options.is_normalisation_known = true;
}

Status ApplyPreset(std::string_view word, PictureOptions& options) {
  std::vector<std::string_view> names;
  for (const Normalisation& preset : Presets()) {
    names.push_back(preset.name);
    if (preset.name != word) continue;
    SetNumbers(preset, options);
    if (preset.is_bgr) options.is_bgr = true;
    if (word == "imagenet") {
      options.fit = Fit::kCrop;
      options.margin = 256.0 / 224;
    }
    return OkStatus();
  }
  return CommandLineError(
      "--image: expected imagenet, caffe, tf, unit, raw, or KEY=VALUE, found "
      "'" +
      std::string(word) + "'" + DidYouMean(word, names));
}

// Reads an array of means from a file, and averages it over all axes but that
// of the channels, which has 1 or 3 elements.
StatusOr<std::vector<double>> ReadMean(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const vm::Tensor tensor, ReadTensorFile(path));
  const std::vector<int64_t>& dims = tensor.dims;
  const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
  const bool is_first =
      !dims.empty() && is_channels(dims.front()) && tensor.strings == nullptr;
  const bool is_last =
      dims.size() > 1 && is_channels(dims.back()) && tensor.strings == nullptr;
  if ((!is_first && !is_last) || tensor.element_count() == 0) {
    return CommandLineError(
        "--image: mean=@" + path +
        ": expected a tensor [C], [C, H, W] or [H, W, C] with 1 or 3 "
        "channels, found " +
        tensor.TypeText());
  }
  const int64_t channels = is_first ? dims.front() : dims.back();
  const int64_t count = tensor.element_count() / channels;
  std::vector<double> mean(static_cast<size_t>(channels));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    mean[static_cast<size_t>(is_first ? i / count : i % channels)] +=
        FloatElement(tensor, i) / static_cast<double>(count);
  }
  return mean;
}

// Parses a size: "256" (both sides) or "256x320" (width x height).
std::optional<PictureOptions::Size> ParseSize(std::string_view text) {
  const size_t x = text.find('x');
  const std::optional<int64_t> width = ParseSide(text.substr(0, x));
  const std::optional<int64_t> height =
      x == std::string_view::npos ? width : ParseSide(text.substr(x + 1));
  if (!width || !height) return std::nullopt;
  return PictureOptions::Size{*width, *height};
}

template <typename T>
bool Choose(std::string_view text,
            const std::vector<std::pair<std::string_view, T>>& choices,
            T& value) {
  for (const auto& [name, choice] : choices) {
    if (name != text) continue;
    value = choice;
    return true;
  }
  return false;
}

Status ApplySize(std::string_view item, std::string_view key,
                 std::string_view value, PictureOptions& options) {
  const std::optional<PictureOptions::Size> size = ParseSize(value);
  if (!size)
    return Wrong(item, std::string(key) + "=SIDE or WIDTHxHEIGHT, 1 to 65536");
  if (key == "crop") {
    options.crop = size;
  } else if (value.find('x') == std::string_view::npos) {
    options.shorter_side = size->width;
    options.resize = std::nullopt;
  } else {
    options.resize = size;
    options.shorter_side = std::nullopt;
  }
  return OkStatus();
}

Status ApplyNumber(std::string_view item, std::string_view key,
                   std::string_view value, PictureOptions& options) {
  options.is_normalisation_known = true;
  if (key == "mean" && value.starts_with('@')) {
    EMBER_ASSIGN_OR_RETURN(options.mean,
                           ReadMean(std::string(value.substr(1))));
    return OkStatus();
  }
  const std::optional<double> number = ParseNumber(value);
  if (!number || (key == "std" && *number == 0))
    return Wrong(item, std::string(key) + "=NUMBER");
  if (key == "scale") {
    options.scale = *number;
  } else {
    (key == "mean" ? options.mean : options.std) = {*number};
  }
  return OkStatus();
}

Status ApplyPair(std::string_view item, std::string_view key,
                 std::string_view value, PictureOptions& options) {
  if (key == "resize" || key == "crop")
    return ApplySize(item, key, value, options);
  if (key == "scale" || key == "mean" || key == "std")
    return ApplyNumber(item, key, value, options);
  if (key == "fit") {
    options.margin = 1;
    if (Choose(value,
               {{"stretch", Fit::kStretch},
                {"crop", Fit::kCrop},
                {"pad", Fit::kPad}},
               options.fit))
      return OkStatus();
    return Wrong(item, "fit=stretch, crop or pad");
  }
  if (key == "filter") {
    if (Choose(value,
               {{"nearest", Filter::kNearest},
                {"bilinear", Filter::kBilinear},
                {"bicubic", Filter::kBicubic}},
               options.filter))
      return OkStatus();
    return Wrong(item, "filter=bilinear, bicubic or nearest");
  }
  if (key == "order") {
    if (Choose(value, {{"rgb", false}, {"bgr", true}}, options.is_bgr))
      return OkStatus();
    return Wrong(item, "order=rgb or bgr");
  }
  if (key == "layout") {
    bool first = false;
    if (!Choose(value, {{"nchw", true}, {"nhwc", false}}, first))
      return Wrong(item, "layout=nchw or nhwc");
    options.channels_first = first;
    return OkStatus();
  }
  return CommandLineError(
      "--image: unknown key '" + std::string(key) + "'" +
      DidYouMean(key, kKeys) +
      "; expected resize, crop, fit, filter, order, layout, scale, mean or "
      "std");
}

std::string ListText(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.6g", number);
    text += (text.empty() ? "" : ",") + std::string(buffer);
  }
  return text;
}

bool IsAll(const std::vector<double>& numbers, double value) {
  for (const double number : numbers) {
    if (number != value) return false;
  }
  return true;
}

// Parses a metadata value that is a list of numbers separated by spaces.
std::optional<std::vector<double>> NumbersOf(
    std::span<const vm::MetadataEntry> metadata, const std::string& key) {
  const vm::MetadataEntry* entry = vm::FindMetadata(metadata, key);
  if (entry == nullptr) return std::nullopt;
  std::vector<double> numbers;
  std::string_view text = entry->value;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::optional<double> number = ParseNumber(text.substr(0, end));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (numbers.size() != 1 && numbers.size() != 3) return std::nullopt;
  return numbers;
}

}  // namespace

std::string PictureOptions::FormulaText() const {
  std::string text = "x";
  if (scale != 1) {
    const double inverse = 1 / scale;
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.6g", inverse);
    text = std::string("x/") + buffer;
    if (std::fabs(scale) >= 1) text = "x*" + ListText({scale});
  }
  const bool has_std = !IsAll(std, 1);
  if (!IsAll(mean, 0)) {
    text += " - " + ListText(mean);
    if (has_std) text = "(" + text + ")";
  }
  return has_std ? text + " / " + ListText(std) : text;
}

Status ParsePictureOptions(std::string_view text, PictureOptions& options) {
  if (text.empty()) return OkStatus();
  options.source = "--image";
  // In "mean=1,2,3" the items "2" and "3" have no key. They are appended to
  // this list, that of the last key.
  std::vector<double>* list = nullptr;
  bool more = true;
  while (more) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view item = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const size_t equals = item.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = item.substr(0, equals);
      EMBER_RETURN_IF_ERROR(
          ApplyPair(item, key, item.substr(equals + 1), options));
      list = key == "mean"  ? &options.mean
             : key == "std" ? &options.std
                            : nullptr;
      continue;
    }
    const std::optional<double> number = ParseNumber(item);
    if (!number) {
      EMBER_RETURN_IF_ERROR(ApplyPreset(item, options));
      list = nullptr;
    } else if (list == nullptr || list->size() >= 3 ||
               (list == &options.std && *number == 0)) {
      return Wrong(item,
                   "KEY=VALUE, and one or three numbers after mean= and "
                   "std=, none of std= being 0");
    } else {
      list->push_back(*number);
    }
  }
  for (const auto& [key, numbers] :
       {std::pair("mean", &options.mean), std::pair("std", &options.std)}) {
    if (numbers->size() == 2)
      return Wrong(ListText(*numbers), std::string(key) + "=X or X,X,X");
  }
  return OkStatus();
}

PictureOptions PictureOptionsOfModel(
    std::span<const vm::MetadataEntry> metadata, size_t number,
    const vm::TensorSignature& input) {
  PictureOptions options;
  const std::string tflite = "tflite.input." + std::to_string(number);
  const auto mean = NumbersOf(metadata, tflite + ".mean");
  const auto std = NumbersOf(metadata, tflite + ".std");
  if (mean && std && std::ranges::find(*std, 0.0) == std->end()) {
    options.mean = *mean;
    options.std = *std;
    options.is_normalisation_known = true;
    options.source = tflite + ".mean";
  }
  const auto step = NumbersOf(metadata, tflite + ".scale");
  const auto zero = NumbersOf(metadata, tflite + ".zero_point");
  if (step && zero && step->front() > 0 && std::fabs(zero->front()) < 1e9) {
    options.step = step->front();
    options.zero_point = std::lround(zero->front());
  }
  const auto value = [&metadata](const std::string& key) {
    const vm::MetadataEntry* entry = vm::FindMetadata(metadata, key);
    return entry == nullptr ? std::string_view() : entry->value;
  };
  const std::string image = "onnx.metadata.Image.";
  if (const auto format = value(image + "BitmapPixelFormat"); !format.empty()) {
    options.is_bgr = format.starts_with("Bgr") || format.starts_with("BGR");
    // If the metadata gives no range, Windows ML passes pixels from 0 to 255.
    // So the default, without scaling, is right.
    options.is_normalisation_known = true;
    options.source = image + "BitmapPixelFormat";
  }
  const std::string_view range = value(image + "NominalPixelRange");
  for (const auto& [name, preset] : {std::pair("NominalRange_0_255", "raw"),
                                     std::pair("Normalized_0_1", "unit"),
                                     std::pair("Normalized_1_1", "tf")}) {
    if (range != name) continue;
    for (const Normalisation& row : Presets())
      if (row.name == preset) SetNumbers(row, options);
    options.source = image + "NominalPixelRange";
  }
  const std::string color = "coreml.input." + input.name + ".color";
  if (const std::string_view order = value(color); !order.empty()) {
    options.is_bgr = order == "BGR";
    options.source = color;
  }
  return options;
}

}  // namespace ember::tools

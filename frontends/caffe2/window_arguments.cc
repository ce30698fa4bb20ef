#include "frontends/caffe2/window_arguments.h"

#include <string>
#include <utility>

namespace ember::caffe2 {

using ops::Window;

std::optional<LegacyPad> ReadLegacyPad(OperatorContext& c) {
  const int64_t number = c.Integer("legacy_pad", 0);
  if (!c.CheckRange("legacy_pad", number, 0, 3)) return std::nullopt;
  return static_cast<LegacyPad>(number);
}

std::optional<std::vector<int64_t>> ReadSizes(OperatorContext& c,
                                              std::string_view stem,
                                              size_t count, int64_t minimum,
                                              int64_t otherwise) {
  const std::string name(stem);
  std::vector<int64_t> sizes = c.Integers(name + "s");
  if (c.Has(name)) {
    sizes.assign(count, c.Integer(name, otherwise));
  } else if (c.Has(name + "_h") && c.Has(name + "_w")) {
    sizes = {c.Integer(name + "_h", 0), c.Integer(name + "_w", 0)};
  } else if (sizes.empty()) {
    sizes.assign(count, otherwise);
  }
  if (sizes.size() != count) {
    c.FailInvalid(name + "s: expected " + std::to_string(count) +
                  " integers, found " + std::to_string(sizes.size()));
    return std::nullopt;
  }
  for (const int64_t size : sizes)
    if (!c.CheckRange(name, size, minimum, ops::kMaxWindow))
      return std::nullopt;
  return sizes;
}

bool ReadPads(OperatorContext& c, Window& window) {
  const auto count = static_cast<size_t>(window.rank());
  std::vector<int64_t> pads = c.Integers("pads");
  if (c.Has("pad")) {
    pads.assign(2 * count, c.Integer("pad", 0));
  } else if (c.Has("pad_t") && c.Has("pad_l") && c.Has("pad_b") &&
             c.Has("pad_r")) {
    pads = {c.Integer("pad_t", 0), c.Integer("pad_l", 0), c.Integer("pad_b", 0),
            c.Integer("pad_r", 0)};
  } else if (pads.empty()) {
    pads.assign(2 * count, 0);
  }
  if (pads.size() != 2 * count) {
    c.FailInvalid("pads: expected " + std::to_string(2 * count) +
                  " integers, found " + std::to_string(pads.size()));
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!c.CheckRange("pad", pads[i], 0, ops::kMaxWindow) ||
        !c.CheckRange("pad", pads[count + i], 0, ops::kMaxWindow))
      return false;
    window.low[i] = Dim(pads[i]);
    window.high[i] = Dim(pads[count + i]);
  }
  return c.ok();
}

std::optional<Window> ReadWindow(OperatorContext& c, const Shape& spatial) {
  const size_t count = spatial.size();
  const auto kernel = ReadSizes(c, "kernel", count, 1, 0);
  if (!kernel) return std::nullopt;
  auto strides = ReadSizes(c, "stride", count, 1, 1);
  auto dilations = ReadSizes(c, "dilation", count, 1, 1);
  const auto legacy = ReadLegacyPad(c);
  if (!strides || !dilations || !legacy) return std::nullopt;
  Window window = ops::WindowOf(*kernel);
  window.strides = *std::move(strides);
  window.dilations = *std::move(dilations);
  if (*legacy == LegacyPad::kSame) {
    ops::PadSame(spatial, /*upper=*/true, window);
  } else if (*legacy != LegacyPad::kValid) {
    if (!ReadPads(c, window)) return std::nullopt;
    if (*legacy == LegacyPad::kCaffePooling) ops::ExtendToCeil(spatial, window);
  }
  return window;
}

}  // namespace ember::caffe2

#include "frontends/keras/spatial.h"

#include <string>
#include <utility>

#include "base/one_line.h"

namespace ember::keras {

int SpatialRank(LayerContext& c) {
  const std::string& name = c.layer().class_name;
  for (const char digit : {'1', '2', '3'}) {
    const size_t at = name.find(digit);
    if (at != std::string::npos && at + 1 < name.size() && name[at + 1] == 'D')
      return digit - '0';
  }
  return 2;
}

Shape SpatialDims(Tensor x) {
  if (x.rank() < 3) return {};
  return Shape(x.shape().begin() + 1, x.shape().end() - 1);
}

std::optional<ops::Window> MakeWindow(LayerContext& c,
                                      std::vector<int64_t> extents,
                                      std::string_view strides,
                                      int64_t default_stride,
                                      const Shape& spatial) {
  const size_t count = extents.size();
  ops::Window window = ops::WindowOf(extents);
  window.strides =
      default_stride == 0 && !c.config().Has(strides)
          ? extents
          : c.config().Integers(strides, count,
                                std::max<int64_t>(default_stride, 1));
  window.dilations = c.config().Integers("dilation_rate", count, 1);
  for (size_t i = 0; i < count; ++i) {
    if (!c.CheckPositive("window", extents[i]) ||
        !c.CheckPositive("strides", window.strides[i]) ||
        !c.CheckPositive("dilation_rate", window.dilations[i]))
      return std::nullopt;
  }
  const std::string padding = c.config().Text("padding", "valid");
  if (padding == "same") {
    ops::PadSame(spatial, /*upper=*/true, window);
  } else if (padding == "causal" && count == 1) {
    // Causal padding: all padding comes before the sequence, none after it.
    window.low[0] = Dim(window.Reach(0) - 1);
  } else if (padding != "valid") {
    c.FailInvalid(
        "padding: expected valid, same or (of one dim) causal, "
        "found '" +
        OnOneLine(padding) + "'");
    return std::nullopt;
  }
  return window;
}

}  // namespace ember::keras

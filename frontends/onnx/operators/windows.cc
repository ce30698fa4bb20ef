#include "frontends/onnx/operators/windows.h"

#include <utility>

#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

bool CheckPositive(NodeContext& c, const char* name,
                   const std::vector<int64_t>& values, int rank) {
  if (static_cast<int>(values.size()) != rank) {
    c.FailInvalid(std::string("attribute '") + name + "': expected " +
                  std::to_string(rank) + " values, found " +
                  std::to_string(values.size()));
    return false;
  }
  for (int64_t value : values) {
    if (value >= 1 && value <= kMaxWindow) continue;
    c.FailInvalid(std::string("attribute '") + name +
                  "': expected values in [1, " + std::to_string(kMaxWindow) +
                  "], found " + std::to_string(value));
    return false;
  }
  return true;
}

}  // namespace

std::optional<Window> ReadWindowExtents(NodeContext& c,
                                        std::vector<int64_t> kernel, int rank) {
  Window window;
  window.kernel = std::move(kernel);
  window.strides = c.Integers("strides", std::vector<int64_t>(rank, 1));
  window.dilations = c.Integers("dilations", std::vector<int64_t>(rank, 1));
  window.low = window.high = window.ceil_extra = Shape(rank, Dim(0));
  if (!c.ok() || !CheckPositive(c, "kernel_shape", window.kernel, rank) ||
      !CheckPositive(c, "strides", window.strides, rank) ||
      !CheckPositive(c, "dilations", window.dilations, rank)) {
    return std::nullopt;
  }
  return window;
}

bool ReadPads(NodeContext& c, Window& window) {
  const size_t rank = window.kernel.size();
  const std::vector<int64_t> pads =
      c.Integers("pads", std::vector<int64_t>(2 * rank, 0));
  if (pads.size() != 2 * rank) {
    c.FailInvalid("attribute 'pads': expected " + std::to_string(2 * rank) +
                  " values, found " + std::to_string(pads.size()));
    return false;
  }
  for (int64_t pad : pads) {
    if (pad >= -kMaxWindow && pad <= kMaxWindow) continue;
    c.FailInvalid("attribute 'pads': expected at most " +
                  std::to_string(kMaxWindow) + ", found " +
                  std::to_string(pad));
    return false;
  }
  for (size_t i = 0; i < rank; ++i) {
    window.low[i] = Dim(pads[i]);
    window.high[i] = Dim(pads[rank + i]);
  }
  return true;
}

std::optional<Window> ReadWindow(NodeContext& c, std::vector<int64_t> kernel,
                                 const Shape& spatial) {
  std::optional<Window> window =
      ReadWindowExtents(c, std::move(kernel), static_cast<int>(spatial.size()));
  if (!window) return std::nullopt;
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    PadSame(spatial, auto_pad == "SAME_UPPER", *window);
  } else if (auto_pad == "NOTSET" || auto_pad.empty()) {
    if (!ReadPads(c, *window)) return std::nullopt;
  } else if (auto_pad != "VALID") {
    c.FailInvalid(
        "attribute 'auto_pad': expected NOTSET, VALID, SAME_UPPER or "
        "SAME_LOWER, found '" +
        auto_pad + "'");
  }
  if (c.Integer("ceil_mode", 0) != 0) ExtendToCeil(spatial, *window);
  if (!c.ok()) return std::nullopt;
  return window;
}

}  // namespace ember::onnx

#include "frontends/onnx/windows.h"

#include <algorithm>
#include <utility>

#include "frontends/onnx/dims.h"

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
    if (value >= 1 && value <= kMaximumWindow) continue;
    c.FailInvalid(
        std::string("attribute '") + name + "': expected values in [1, " +
        std::to_string(kMaximumWindow) + "], found " + std::to_string(value));
    return false;
  }
  return true;
}

// SAME: as many outputs as strides fit the input, the padding that needs split
// evenly.
void PadSame(const Shape& spatial, bool upper, Window& window) {
  for (int i = 0; i < window.rank(); ++i) {
    const Dim stride(window.strides[i]);
    const Dim outputs = CeilDivide(spatial[i], stride);
    const Dim total = LargerOf(
        (outputs - Dim(1)) * stride + Dim(window.Reach(i)) - spatial[i],
        Dim(0));
    const Dim less = FloorDivide(total, Dim(2));
    window.low[i] = upper ? less : total - less;
    window.high[i] = total - window.low[i];
  }
}

// ceil_mode: one more window where the strides do not use up the padded input,
// but none that starts in the padding after it.
void ExtendToCeil(const Shape& spatial, Window& window) {
  for (int i = 0; i < window.rank(); ++i) {
    const Dim stride(window.strides[i]);
    const Dim padded = spatial[i] + window.low[i];
    const Dim base = padded - Dim(window.Reach(i));
    const Dim last = SmallerOf(CeilDivide(base + window.high[i], stride),
                               FloorDivide(padded - Dim(1), stride));
    // The padding with which exactly windows 0 … last fit.
    const Dim least = last * stride - base;
    const Dim high =
        LargerOf(SmallerOf(window.high[i], least + stride - Dim(1)), least);
    window.ceil_extra[i] = LargerOf(high - window.high[i], Dim(0));
    window.high[i] = high;
  }
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
    if (pad >= -kMaximumWindow && pad <= kMaximumWindow) continue;
    c.FailInvalid("attribute 'pads': expected at most " +
                  std::to_string(kMaximumWindow) + ", found " +
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

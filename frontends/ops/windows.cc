#include "frontends/ops/windows.h"

#include <utility>

#include "frontends/ops/dims.h"

namespace ember::ops {

using graph::Dim;
using graph::Shape;

bool Window::IsPadded() const {
  for (int i = 0; i < rank(); ++i) {
    if (low[i] != Dim(0) || high[i] != Dim(0)) return true;
  }
  return false;
}

Window WindowOf(std::vector<int64_t> kernel) {
  Window window;
  window.strides.assign(kernel.size(), 1);
  window.dilations.assign(kernel.size(), 1);
  window.low = window.high = window.ceil_extra = Shape(kernel.size(), Dim(0));
  window.kernel = std::move(kernel);
  return window;
}

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

void ExtendToCeil(const Shape& spatial, Window& window) {
  for (int i = 0; i < window.rank(); ++i) {
    const Dim stride(window.strides[i]);
    const Dim padded = spatial[i] + window.low[i];
    const Dim base = padded - Dim(window.Reach(i));
    // Number of the last window: the first one that uses up the padded input,
    // but no window may start after the input's last element. Both numbers are
    // quotients by the stride, so comparing the dividends may decide which one
    // is smaller.
    const Dim used_up = base + window.high[i] + stride - Dim(1);
    const Dim last_element = padded - Dim(1);
    const DimRange difference = RangeOf(used_up - last_element);
    const Dim last = difference.low >= 0 ? FloorDivide(last_element, stride)
                     : difference.high <= 0
                         ? FloorDivide(used_up, stride)
                         : SmallerOf(FloorDivide(used_up, stride),
                                     FloorDivide(last_element, stride));
    // The windows 0 … last fit if the padding at the end is from `least` to
    // least + stride - 1.
    const Dim least = last * stride - base;
    const Dim high =
        LargerOf(SmallerOf(window.high[i], least + stride - Dim(1)), least);
    window.ceil_extra[i] = LargerOf(high - window.high[i], Dim(0));
    window.high[i] = high;
  }
}

}  // namespace ember::ops

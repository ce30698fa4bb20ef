#include "frontends/stablehlo/padding.h"

#include "frontends/ops/dims.h"

namespace ember::stablehlo {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;

// Inserts `count` values between each two elements of an axis: pads a new axis
// after the axis, merges the two axes, and cuts the values after the last
// element off.
Tensor PadBetween(Tensor x, Tensor value, int axis, int64_t count) {
  const Dim extent = x.dim(axis);
  Shape high(static_cast<size_t>(x.rank()) + 1, Dim(0));
  high[static_cast<size_t>(axis) + 1] = Dim(count);
  const Shape low(high.size(), Dim(0));
  Tensor y = Pad(Unsqueeze(x, {axis + 1}), low, high, "constant", value);
  Shape merged = x.shape();
  merged[static_cast<size_t>(axis)] = extent * Dim(count + 1);
  y = Reshape(y, merged);
  const Dim size = extent + (extent - Dim(1)) * Dim(count);
  return SliceAxis(y, axis, Dim(0), ops::LargerOf(size, Dim(0)));
}

}  // namespace

Tensor PadAll(const OperationContext& c, Tensor x, Tensor value,
              const PaddingSpec& spec) {
  for (const auto* list : {&spec.low, &spec.high})
    if (!c.CheckRange(*list, "padding", -kLargest, kLargest)) return x;
  if (!c.CheckRange(spec.interior, "padding between", 0, kLargest)) return x;
  if (value.dtype() != x.dtype() || value.rank() != 0) {
    c.FailInvalid("expected a scalar of the operand's type to pad with");
    return x;
  }
  const auto rank = static_cast<size_t>(x.rank());
  Shape low, high;
  bool pads = false;
  for (size_t i = 0; i < rank; ++i) {
    const int axis = static_cast<int>(i);
    if (spec.interior[i] > 0) x = PadBetween(x, value, axis, spec.interior[i]);
    // A negative amount of padding removes elements. It may exceed the dim's
    // extent if the padding on the other side makes up for it, so only the sum
    // is checked.
    const int64_t front = spec.low[i], back = spec.high[i];
    const auto extent = x.dim(axis).AsConstant();
    if (extent && *extent + front + back < 0) {
      c.FailInvalid(
          "dim " + std::to_string(i) +
          ": expected padding that leaves 0 or more elements, found " +
          std::to_string(front) + " and " + std::to_string(back) + " for " +
          std::to_string(*extent));
      return x;
    }
    low.push_back(Dim(front > 0 ? front : 0));
    high.push_back(Dim(back > 0 ? back : 0));
    pads = pads || front > 0 || back > 0;
  }
  if (pads) x = Pad(x, low, high, "constant", value);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t front = spec.low[i] < 0 ? -spec.low[i] : 0;
    const int64_t back = spec.high[i] < 0 ? -spec.high[i] : 0;
    if (front == 0 && back == 0) continue;
    const int axis = static_cast<int>(i);
    x = SliceAxis(x, axis, Dim(front), x.dim(axis) - Dim(front + back));
  }
  return x;
}

}  // namespace ember::stablehlo

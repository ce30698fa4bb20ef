#include "frontends/ops/quantization.h"

#include <vector>

#include "frontends/ops/compositions.h"

namespace ember::ops {

Tensor RepeatBlocks(Tensor parameters, int axis, int64_t block,
                    const Dim& extent) {
  const Tensor all = RepeatEach(parameters, axis, Dim(block));
  return all.dim(axis) == extent ? all : SliceAxis(all, axis, Dim(0), extent);
}

Tensor Centered(Tensor x, Tensor zero_point) {
  Tensor wide = Cast(x, DType::kI32);
  return zero_point ? wide - Cast(zero_point, DType::kI32) : wide;
}

Tensor Dequantize(Tensor x, Tensor scale, Tensor zero_point) {
  return Cast(Centered(x, zero_point), DType::kF32) * Cast(scale, DType::kF32);
}

Tensor RoundToQuantized(Tensor scaled, Tensor zero_point, DType type) {
  Tensor rounded = Round(scaled);
  if (zero_point) rounded = rounded + Cast(zero_point, scaled.dtype());
  // Clamping is not needed, as a cast from float to integer saturates.
  return Cast(rounded, type);
}

DynamicallyQuantized QuantizeDynamically(Tensor x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  Tensor low = Minimum(Reduce(x, "minimum", axes, false), 0);
  Tensor high = Maximum(Reduce(x, "maximum", axes, false), 0);
  DynamicallyQuantized result;
  // If all elements are 0, the range is empty and gives a scale of 0. Any scale
  // represents these elements, so it is 1.
  Tensor span = high - low;
  result.scale = Select(Equal(span, 0), span.Like(1), span / 255.0);
  result.zero_point =
      Cast(Round(Maximum(Minimum(-low / result.scale, 255), 0)), DType::kU8);
  result.values =
      RoundToQuantized(x / result.scale, result.zero_point, DType::kU8);
  return result;
}

}  // namespace ember::ops

// Windows of convolutions and pooling: kernel, strides, dilations and padding
// of each spatial dim.
//
//   Window window = WindowOf({3, 3});
//   window.strides = {2, 2};
//   PadSame({x.dim(1), x.dim(2)}, /*upper=*/true, window);
#ifndef EMBER_FRONTENDS_OPS_WINDOWS_H_
#define EMBER_FRONTENDS_OPS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/dim.h"

namespace ember::ops {

// Largest kernel, stride, dilation or pad: far more than any model has, and far
// below numbers that overflow.
inline constexpr int64_t kMaxWindow = int64_t{1} << 24;

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  graph::Shape low;   // padding before
  graph::Shape high;  // padding after
  // The part of `high` that ExtendToCeil added so that a last, partial window
  // fits.
  graph::Shape ceil_extra;

  int rank() const { return static_cast<int>(kernel.size()); }
  // Returns the number of elements from the first to the last element of a
  // window along dim i, dilation included.
  int64_t Reach(int i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  // True if the window has any padding.
  bool IsPadded() const;
};

// Returns a window with strides and dilations of 1 and no padding.
Window WindowOf(std::vector<int64_t> kernel);

// Sets the padding SAME, with which the number of outputs is the extent divided
// by the stride, rounded up. The padding is split evenly before and after the
// input; `upper`: an odd element comes after.
void PadSame(const graph::Shape& spatial, bool upper, Window& window);

// Adds one more window if the strides do not use up the padded input, unless it
// would start in the padding after the input.
void ExtendToCeil(const graph::Shape& spatial, Window& window);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_WINDOWS_H_

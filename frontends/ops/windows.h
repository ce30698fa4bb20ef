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

// Of kernels, strides, dilations and pads: far above any model's, far below
// what overflows.
inline constexpr int64_t kMaximumWindow = int64_t{1} << 24;

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  graph::Shape low;   // padding before
  graph::Shape high;  // and after
  // Of `high`, what ExtendToCeil added so that the last partial window exists.
  graph::Shape ceil_extra;

  int rank() const { return static_cast<int>(kernel.size()); }
  // Extent that one window covers.
  int64_t Reach(int i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  // Whether there is padding anywhere.
  bool IsPadded() const;
};

// Strides and dilations of 1, no padding.
Window WindowOf(std::vector<int64_t> kernel);

// SAME: as many outputs as strides fit the input, the padding that needs split
// evenly; `upper`: what does not split comes after.
void PadSame(const graph::Shape& spatial, bool upper, Window& window);

// One more window where the strides do not use up the padded input, but none
// that starts in the padding after it.
void ExtendToCeil(const graph::Shape& spatial, Window& window);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_WINDOWS_H_

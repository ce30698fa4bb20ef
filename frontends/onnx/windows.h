// Windows of convolutions and pooling: kernel, strides, dilations and padding
// of each spatial dim, from the attributes that Conv, ConvTranspose and the
// pooling operators share.
//
//   std::optional<Window> window = ReadWindow(c, kernel, {x.dim(2), x.dim(3)});
//   if (!window) return;   // the node has failed, with what is wrong
#ifndef EMBER_FRONTENDS_ONNX_WINDOWS_H_
#define EMBER_FRONTENDS_ONNX_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// Of kernels, strides, dilations and pads: far above any model's, far below
// what overflows.
inline constexpr int64_t kMaximumWindow = int64_t{1} << 24;

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  Shape low;   // padding before
  Shape high;  // and after
  // Of `high`, what ceil_mode added so that the last partial window exists.
  Shape ceil_extra;

  int rank() const { return static_cast<int>(kernel.size()); }
  // Extent that one window covers.
  int64_t Reach(int i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// For spatial extents `spatial` and a kernel. Resolves pads, auto_pad (of
// symbolic extents too) and ceil_mode. Fails and gives nullopt on attributes
// that make no sense.
std::optional<Window> ReadWindow(NodeContext& c, std::vector<int64_t> kernel,
                                 const Shape& spatial);

// kernel, strides and dilations only; padding is left 0.
std::optional<Window> ReadWindowExtents(NodeContext& c,
                                        std::vector<int64_t> kernel, int rank);
// The pads attribute as low and high; false (and Fail) if it has the wrong
// length.
bool ReadPads(NodeContext& c, Window& window);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_WINDOWS_H_

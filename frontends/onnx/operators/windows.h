// Reads the windows of convolutions and pooling from the attributes that Conv,
// ConvTranspose and the pooling operators share.
//
//   std::optional<Window> window = ReadWindow(c, kernel, {x.dim(2), x.dim(3)});
//   if (!window) return;   // the node has failed with an error message
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_WINDOWS_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/node/context.h"
#include "frontends/ops/windows.h"

namespace ember::onnx {

using ops::kMaxWindow;
using ops::Window;

// Reads a window from the node's attributes, for a kernel of these extents that
// moves over spatial dims of extents `spatial`. The padding is resolved from
// pads, auto_pad (for symbolic extents too) and ceil_mode. Fails and returns
// nullopt on invalid attributes.
std::optional<Window> ReadWindow(NodeContext& c, std::vector<int64_t> kernel,
                                 const Shape& spatial);

// Reads a window without its padding, which stays 0: kernel, strides and
// dilations; nullopt after an error.
std::optional<Window> ReadWindowExtents(NodeContext& c,
                                        std::vector<int64_t> kernel, int rank);
// Reads the attribute pads into the window's padding before (low) and after
// (high) each dim. Fails and returns false if it has the wrong length or a
// number that is too large.
bool ReadPads(NodeContext& c, Window& window);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_WINDOWS_H_

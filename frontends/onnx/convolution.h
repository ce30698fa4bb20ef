// Parts of convolution and quantization that other operators are made of.
#ifndef EMBER_FRONTENDS_ONNX_CONVOLUTION_H_
#define EMBER_FRONTENDS_ONNX_CONVOLUTION_H_

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// ONNX Conv of channels-first operands with the node's window attributes; bias
// may be absent. Fails on operands that do not fit.
Tensor Convolution(NodeContext& c, Tensor x, Tensor w, Tensor bias);

// Nearest integers (ties to even) plus the zero point (may be absent),
// saturated to `type`.
Tensor RoundToQuantized(Tensor scaled, Tensor zero_point, DType type);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CONVOLUTION_H_

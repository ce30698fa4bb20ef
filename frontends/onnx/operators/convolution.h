// Functions of convolutions that other operators use.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_CONVOLUTION_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_CONVOLUTION_H_

#include "frontends/onnx/node/context.h"
#include "frontends/ops/convolution.h"

namespace ember::onnx {

using ops::ToChannelsFirst;
using ops::ToChannelsLast;

// Computes ONNX's Conv of channels-first operands with the node's window
// attributes; bias may be absent. Fails on operands that do not fit.
Tensor Convolution(NodeContext& c, Tensor x, Tensor w, Tensor bias);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_CONVOLUTION_H_

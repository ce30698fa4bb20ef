// Pooling of tensors that are not themselves operands of the node.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_POOLING_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_POOLING_H_

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Compute ONNX's AveragePool and MaxPool of x[N, C, spatial…] with the node's
// window attributes. Fail on attributes that do not fit.
Tensor AveragePool(NodeContext& c, Tensor x);
Tensor MaxPool(NodeContext& c, Tensor x);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_POOLING_H_

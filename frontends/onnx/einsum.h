// numpy.einsum as ONNX defines it: any number of operands, repeated labels,
// ellipsis.
#ifndef EMBER_FRONTENDS_ONNX_EINSUM_H_
#define EMBER_FRONTENDS_ONNX_EINSUM_H_

#include <string>
#include <vector>

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// Fails on an equation that does not fit the operands.
Tensor Einsum(NodeContext& c, std::string equation,
              const std::vector<Tensor>& operands);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_EINSUM_H_

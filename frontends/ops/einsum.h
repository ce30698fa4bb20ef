// numpy.einsum as defined by ONNX and TensorFlow: any number of operands,
// repeated labels, ellipsis.
#ifndef EMBER_FRONTENDS_OPS_EINSUM_H_
#define EMBER_FRONTENDS_OPS_EINSUM_H_

#include <string>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns the einsum of the operands. Fails if the equation does not fit the
// operands.
Tensor Einsum(graph::GraphBuilder& builder, const std::string& equation,
              const std::vector<Tensor>& operands);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_EINSUM_H_

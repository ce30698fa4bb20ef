// Constant tensors of a file as constants of the graph, in the file's memory
// where their layout allows it: 4-bit integers are unpacked, sparse tensors
// made dense, strings interned.
#ifndef EMBER_FRONTENDS_TFLITE_CONSTANTS_H_
#define EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "frontends/ops/tensor.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

// Errors: types without a dtype, data that its own index does not fit.
StatusOr<ops::Tensor> ConstantTensor(const Model& model,
                                     const schema::Tensor& tensor,
                                     graph::GraphBuilder& builder);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

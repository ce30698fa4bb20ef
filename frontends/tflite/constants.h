// Constant tensors of a file as constants of the graph, in the file's memory
// where their layout allows it: 4-bit integers are unpacked, sparse tensors
// made dense, strings interned.
#ifndef EMBER_FRONTENDS_TFLITE_CONSTANTS_H_
#define EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

#include <map>

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "compiler/graph/graph.h"
#include "frontends/ops/tensor.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

// The data of tensors of the file that were unpacked or made dense already, by
// their tables in the file. So a subgraph that is called a thousand times has
// one copy of each.
using UnpackedConstants = std::map<const schema::Tensor*, graph::ConstantData>;

// Errors: types without a dtype, data that its own index does not fit.
StatusOr<ops::Tensor> ConstantTensor(const Model& model,
                                     const schema::Tensor& tensor,
                                     UnpackedConstants& unpacked,
                                     graph::GraphBuilder& builder);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

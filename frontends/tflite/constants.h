// Converts constant tensors of a file to constants of the graph, in the file's
// memory where their layout allows it. 4-bit integers are unpacked, sparse
// tensors are made dense, and strings are interned.
#ifndef EMBER_FRONTENDS_TFLITE_CONSTANTS_H_
#define EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

#include <map>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/graph.h"
#include "frontends/ops/tensor.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

// The data of tensors that have been unpacked or made dense, by the tensor's
// table in the file. A subgraph that is called a thousand times thus has one
// copy of each constant.
using UnpackedConstants = std::map<const schema::Tensor*, graph::ConstantData>;

// Returns a constant tensor as a constant of the graph. Errors: a type without
// a dtype, and sparse or string data that does not fit the index stored with
// it.
StatusOr<ops::Tensor> ConstantTensor(const Model& model,
                                     const schema::Tensor& tensor,
                                     UnpackedConstants& unpacked,
                                     graph::GraphBuilder& builder);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_CONSTANTS_H_

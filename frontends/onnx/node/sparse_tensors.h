// Replaces the sparse tensors of a model (SparseTensorProto) by dense ones, as
// there is no sparse storage. Sparse initializers become initializers, and the
// attribute sparse_value of Constant becomes `value`, before any other code
// reads the model.
//
//   EMBER_RETURN_IF_ERROR(ReplaceSparseTensors(model));
//
// Errors: indices outside the tensor or of the wrong count, carried types,
// dense forms above 1 GB. Thread-compatible.
#ifndef EMBER_FRONTENDS_ONNX_NODE_SPARSE_TENSORS_H_
#define EMBER_FRONTENDS_ONNX_NODE_SPARSE_TENSORS_H_

#include "base/status.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

Status ReplaceSparseTensors(ModelProto& model);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_SPARSE_TENSORS_H_

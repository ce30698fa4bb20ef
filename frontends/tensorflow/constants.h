// Converts TensorProtos to constants of the graph under construction.
#ifndef EMBER_FRONTENDS_TENSORFLOW_CONSTANTS_H_
#define EMBER_FRONTENDS_TENSORFLOW_CONSTANTS_H_

#include <memory>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/ops/tensor.h"
#include "frontends/tensorflow/checkpoint.h"
#include "frontends/tensorflow/value.h"
#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

// Converts numbers, strings (to handles: numbers of interned strings) and
// complex numbers (to two tensors). `owner` keeps the proto, and so the bytes,
// alive. Errors name the part that does not fit: the type, the shape, the
// number of values.
StatusOr<Value> ConstantValue(const TensorProto& proto,
                              std::shared_ptr<const void> owner,
                              graph::GraphBuilder& builder);

// Returns a variable's value as a constant; its bytes stay in the checkpoint's
// file.
ops::Tensor CheckpointConstant(const CheckpointTensor& tensor,
                               graph::GraphBuilder& builder);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_CONSTANTS_H_

// Inputs of a graph, as TensorFlow and TensorFlow Lite have them.
#ifndef EMBER_FRONTENDS_TF_COMMON_INPUTS_H_
#define EMBER_FRONTENDS_TF_COMMON_INPUTS_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "frontends/frontend.h"
#include "frontends/ops/tensor.h"

namespace ember::tf_common {

// An open dim of an input: INPUT_AXIS.
ops::Dim OpenDim(std::string_view input, size_t axis);

// An input whose value is known, as a constant. dtype: of strings, that of
// their handles. Error: the value is of another type.
StatusOr<ops::Tensor> KnownInput(graph::GraphBuilder& builder,
                                 const std::string& name, DType dtype,
                                 bool strings,
                                 const frontends::KnownTensor& value);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_INPUTS_H_

// Makes one-node models that show which element types an operator accepts, from
// a recipe per operator, for any type.
//
//   std::optional<onnx::ModelProto> model =
//       ProbeModel(row, onnx::TensorProto::FLOAT16);
#ifndef EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_
#define EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_

#include "frontends/onnx/registry/operator_table.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::tests {

// Returns a model of one node at the newest opset of its recipe. Its typed
// operands are inputs of `type`. An operator without a recipe gets the operands
// that it needs, each of 2 by 3 elements.
onnx::ModelProto ProbeModel(const onnx::OperatorRow& row,
                            onnx::TensorProto::DataType type);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_

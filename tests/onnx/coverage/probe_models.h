// One-node models that show which element types an operator takes: built from a
// recipe per operator, for any type.
//
//   std::optional<onnx::ModelProto> model =
//       ProbeModel(row, onnx::TensorProto::FLOAT16);
#ifndef EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_
#define EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_

#include "frontends/onnx/operator_table.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::tests {

// A model of one node at the newest opset that its recipe is for, whose typed
// operands are inputs of `type`. An operator without a recipe gets as many
// operands of 2 by 3 elements as it needs.
onnx::ModelProto ProbeModel(const onnx::OperatorRow& row,
                            onnx::TensorProto::DataType type);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_PROBE_MODELS_H_

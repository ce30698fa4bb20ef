// Runs one ONNX node end to end: imports, compiles and executes it, with
// operands and results of any type written as numbers.
//
//   OneNode node("Det", 22);
//   node.Input(F32({2, 2}, {1, 2, 3, 4}));
//   ExpectNumbers(node.Run(), {F32({}, {-2})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_ONNX_ONE_NODE_H_
#define EMBER_TESTS_ONNX_ONE_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/formats/numbers.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

class OneNode {
 public:
  // Makes a node with `outputs` results, all of which are outputs of the model.
  OneNode(const std::string& op_type, int opset, int outputs = 1,
          const std::string& domain = "");

  // Adds the next operand, which is given at run time. Dims of -1 stay
  // symbolic: s0, s1 … by their position in the shape. So do dims of -2, each
  // with a name of its own.
  OneNode& Input(const Numbers& value, std::vector<int64_t> declared = {});
  // Adds the next operand, which consists of strings and is given at run time.
  OneNode& Strings(std::vector<int64_t> dims, std::vector<std::string> values,
                   std::vector<int64_t> declared = {});
  // Adds the next operand as an initializer, which is known at compile time.
  OneNode& Constant(const Numbers& value);
  OneNode& Absent();
  OneNode& Attribute(const onnx::TestAttribute& attribute);
  onnx::NodeProto& node() { return *model_.graph().mutable_node(0); }
  onnx::ModelBuilder& model() { return model_; }

  StatusOr<std::vector<Numbers>> Run();
  StatusOr<std::vector<vm::Tensor>> RunTensors();

 private:
  OneNode& AddInput(vm::Tensor tensor, int32_t onnx_type,
                    const std::vector<int64_t>& declared);

  onnx::ModelBuilder model_;
  std::vector<vm::Tensor> tensors_;
  int operands_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_ONE_NODE_H_

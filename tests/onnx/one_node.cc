#include "tests/onnx/one_node.h"

#include <utility>

#include "base/check.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::tests {
OneNode::OneNode(const std::string& op_type, int opset, int outputs,
                 const std::string& domain)
    : model_(opset) {
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) names.push_back("y" + std::to_string(i));
  for (const std::string& name : names) model_.Output(name);
  model_.Node(op_type, {}, names).set_domain(domain);
  if (domain.empty()) return;
  onnx::OperatorSetIdProto& import = *model_.proto().add_opset_import();
  import.set_domain(domain);
  import.set_version(1);
}

OneNode& OneNode::Input(const Numbers& value, std::vector<int64_t> declared) {
  if (declared.empty()) declared = value.dims;
  return AddInput(MakeTensor(value), onnx::DTypeToOnnx(value.type), declared);
}

OneNode& OneNode::Strings(std::vector<int64_t> dims,
                          std::vector<std::string> values,
                          std::vector<int64_t> declared) {
  if (declared.empty()) declared = dims;
  StatusOr<vm::Tensor> tensor =
      vm::Tensor::OfStrings(std::move(dims), std::move(values));
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  return AddInput(*std::move(tensor), onnx::TensorProto::STRING, declared);
}

OneNode& OneNode::AddInput(vm::Tensor tensor, int32_t onnx_type,
                           const std::vector<int64_t>& declared) {
  std::vector<onnx::TestDim> dims;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (declared[i] >= 0) {
      dims.emplace_back(declared[i]);
    } else {
      const std::string own = std::to_string(operands_) + "_";
      dims.emplace_back("s" + (declared[i] == -1 ? "" : own) +
                        std::to_string(i));
    }
  }
  const std::string name = "x" + std::to_string(operands_++);
  model_.Input(name, dims, static_cast<onnx::TensorProto::DataType>(onnx_type));
  tensors_.push_back(std::move(tensor));
  node().add_input(name);
  return *this;
}

OneNode& OneNode::Constant(const Numbers& value) {
  const vm::Tensor tensor = MakeTensor(value);
  onnx::TensorProto& initializer = *model_.graph().add_initializer();
  initializer.set_name("x" + std::to_string(operands_++));
  initializer.set_data_type(onnx::DTypeToOnnx(value.type));
  for (int64_t dim : value.dims) initializer.add_dims(dim);
  initializer.set_raw_data(tensor.data, static_cast<size_t>(tensor.byte_size));
  node().add_input(initializer.name());
  return *this;
}

OneNode& OneNode::Absent() {
  ++operands_;
  node().add_input("");
  return *this;
}

OneNode& OneNode::Attribute(const onnx::TestAttribute& attribute) {
  onnx::ModelBuilder other;
  *node().add_attribute() = other.Node("", {}, {}, {attribute}).attribute(0);
  return *this;
}

StatusOr<std::vector<vm::Tensor>> OneNode::RunTensors() {
  return RunGraph(model_.Import(), tensors_);
}

StatusOr<std::vector<Numbers>> OneNode::Run() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> outputs, RunTensors());
  std::vector<Numbers> results;
  for (const vm::Tensor& output : outputs)
    results.push_back(ReadNumbers(output));
  return results;
}

}  // namespace ember::tests

// Runs cases/*.case: models of one ONNX node (tests/import_cases/README.md).
//
// The setting `opset` is 17 if it is left out; `domain` is another domain than
// ai.onnx, at version 1. A type as an attribute is the number of the type.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/formats/numbers.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"

namespace ember::tests {
namespace {

int32_t TypeOf(const CaseTensor& tensor) {
  return tensor.is_strings ? onnx::TensorProto::STRING
                           : onnx::DTypeToOnnx(tensor.numbers.type);
}

void AddConstant(const CaseTensor& operand, onnx::ModelBuilder& model) {
  onnx::TensorProto& initializer = *model.graph().add_initializer();
  initializer.set_name(operand.name);
  initializer.set_data_type(TypeOf(operand));
  for (const int64_t dim : operand.numbers.dims) initializer.add_dims(dim);
  for (const std::string& text : operand.strings)
    initializer.add_string_data(text);
  if (!operand.is_strings) initializer.set_raw_data(BytesOf(operand.numbers));
}

void AddInput(const CaseTensor& operand, onnx::ModelBuilder& model) {
  std::vector<onnx::TestDim> dims;
  for (size_t i = 0; i < operand.open.size(); ++i) {
    const std::string& open = operand.open[i];
    if (open.empty())
      dims.emplace_back(operand.numbers.dims[i]);
    else
      dims.emplace_back(open == "?" ? "" : open);
  }
  model.Input(operand.name, dims,
              static_cast<onnx::TensorProto::DataType>(TypeOf(operand)));
}

// Sets an attribute of a node to a case's value. There is a function for each
// type of value.
struct Setter {
  onnx::AttributeProto& attribute;

  void operator()(int64_t value) const {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void operator()(bool value) const { (*this)(int64_t{value}); }
  void operator()(DType value) const {
    (*this)(int64_t{onnx::DTypeToOnnx(value)});
  }
  void operator()(double value) const {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) attribute.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    attribute.set_type(onnx::AttributeProto::FLOATS);
    for (const double value : values)
      attribute.add_floats(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) const {
    attribute.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) attribute.add_strings(value);
  }
};

StatusOr<graph::Graph> ImportNode(const ImportCase& one) {
  int opset = 17;
  std::string domain;
  for (const auto& [name, value] : one.settings) {
    if (name == "opset")
      opset = std::atoi(value.c_str());
    else if (name == "domain")
      domain = value;
    else
      return InvalidArgumentError(Concat({"unknown setting '", name, "'"}));
  }
  onnx::ModelBuilder model(opset);
  std::vector<std::string> inputs, outputs;
  for (const CaseTensor& operand : one.operands) {
    inputs.push_back(operand.is_absent ? "" : operand.name);
    if (operand.is_absent) continue;
    if (operand.is_constant)
      AddConstant(operand, model);
    else
      AddInput(operand, model);
  }
  // A case that expects an error lists no results, but its operator needs one.
  for (size_t i = 0; i == 0 || i < one.results.size(); ++i) {
    outputs.push_back("result" + std::to_string(i));
    model.Output(outputs.back());
  }
  onnx::NodeProto& node = model.Node(one.op, inputs, outputs);
  if (!domain.empty()) {
    node.set_domain(domain);
    onnx::OperatorSetIdProto& import = *model.proto().add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
  }
  for (const auto& [name, value] : one.attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    std::visit(Setter{attribute}, value);
  }
  return model.Import();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  return ember::tests::RunImportCases(argc, argv, "tests/onnx/cases",
                                      ember::tests::ImportNode);
}

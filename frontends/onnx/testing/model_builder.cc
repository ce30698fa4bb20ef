#include "frontends/onnx/testing/model_builder.h"

namespace ember::onnx {
namespace {

struct SetAttribute {
  AttributeProto& attribute;

  void operator()(int64_t value) const {
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(value);
  }
  void operator()(double value) const {
    attribute.set_type(AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    attribute.set_type(AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    attribute.set_type(AttributeProto::FLOATS);
    for (double value : values) attribute.add_floats(static_cast<float>(value));
  }
};

}  // namespace

ModelBuilder::ModelBuilder(int opset) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
  graph().set_name("test");
}

void ModelBuilder::Input(const std::string& name,
                         const std::vector<TestDim>& dims,
                         TensorProto::DataType type) {
  ValueInfoProto& input = *graph().add_input();
  input.set_name(name);
  TypeProto::Tensor& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const TestDim& dim : dims) {
    TensorShapeProto::Dimension& added = *tensor.mutable_shape()->add_dim();
    if (std::holds_alternative<int64_t>(dim)) {
      added.set_dim_value(std::get<int64_t>(dim));
    } else {
      added.set_dim_param(std::get<std::string>(dim));
    }
  }
}

void ModelBuilder::Output(const std::string& name) {
  graph().add_output()->set_name(name);
}

NodeProto& ModelBuilder::Node(const std::string& op_type,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<TestAttribute>& attributes) {
  NodeProto& node = *graph().add_node();
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  for (const TestAttribute& attribute : attributes) {
    AttributeProto& added = *node.add_attribute();
    added.set_name(attribute.name);
    std::visit(SetAttribute{added}, attribute.value);
  }
  return node;
}

void ModelBuilder::Floats(const std::string& name,
                          const std::vector<int64_t>& dims,
                          const std::vector<float>& values) {
  TensorProto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  for (int64_t dim : dims) tensor.add_dims(dim);
  for (float value : values) tensor.add_float_data(value);
}

void ModelBuilder::Integers(const std::string& name,
                            const std::vector<int64_t>& values) {
  TensorProto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values) tensor.add_int64_data(value);
}

StatusOr<ember::graph::Graph> ModelBuilder::Import(const ImportOptions& options,
                                                   const std::string& folder) {
  const std::string bytes = model_.SerializeAsString();
  return ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, folder,
      options, "test.onnx");
}

}  // namespace ember::onnx

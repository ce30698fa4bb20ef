#include "samples/digits/export.h"

#include <initializer_list>

#include "third_party/onnx/onnx.pb.h"

namespace ember::digits {
namespace {

void AddWeight(onnx::GraphProto& graph, const char* name,
               std::initializer_list<int64_t> dims,
               const std::vector<float>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const char* type,
                         std::initializer_list<const char*> inputs,
                         const char* output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(output);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void SetInts(onnx::NodeProto& node, const char* name,
             std::initializer_list<int64_t> values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
}

void SetInt(onnx::NodeProto& node, const char* name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void SetType(onnx::ValueInfoProto& info, const char* name,
             std::initializer_list<int64_t> dims) {
  info.set_name(name);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_param("N");
  for (int64_t dim : dims)
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

void AddConvolution(onnx::GraphProto& graph, const char* input,
                    const char* weight, const char* bias, const char* output) {
  onnx::NodeProto& node = AddNode(graph, "Conv", {input, weight, bias}, output);
  SetInts(node, "kernel_shape", {3, 3});
  SetInts(node, "pads", {1, 1, 1, 1});
}

void AddPool(onnx::GraphProto& graph, const char* input, const char* output) {
  onnx::NodeProto& node = AddNode(graph, "MaxPool", {input}, output);
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
}

void AddNodes(onnx::GraphProto& graph) {
  AddConvolution(graph, "image", "conv1.weight", "conv1.bias", "conv1");
  AddNode(graph, "Relu", {"conv1"}, "relu1");
  AddPool(graph, "relu1", "pool1");
  AddConvolution(graph, "pool1", "conv2.weight", "conv2.bias", "conv2");
  AddNode(graph, "Relu", {"conv2"}, "relu2");
  AddPool(graph, "relu2", "pool2");
  SetInt(AddNode(graph, "Flatten", {"pool2"}, "features"), "axis", 1);
  SetInt(AddNode(graph, "Gemm", {"features", "fc.weight", "fc.bias"}, "scores"),
         "transB", 1);
  SetInt(AddNode(graph, "Softmax", {"scores"}, "probabilities"), "axis", 1);
}

}  // namespace

std::string ToOnnx(const Network& network) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("ember samples/digits");
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("digits");
  SetType(*graph.add_input(), "image", {1, kImageSize, kImageSize});
  SetType(*graph.add_output(), "probabilities", {kClasses});
  AddWeight(graph, "conv1.weight", {kChannels1, 1, 3, 3}, network.conv1_weight);
  AddWeight(graph, "conv1.bias", {kChannels1}, network.conv1_bias);
  AddWeight(graph, "conv2.weight", {kChannels2, kChannels1, 3, 3},
            network.conv2_weight);
  AddWeight(graph, "conv2.bias", {kChannels2}, network.conv2_bias);
  AddWeight(graph, "fc.weight", {kClasses, kFeatures}, network.fc_weight);
  AddWeight(graph, "fc.bias", {kClasses}, network.fc_bias);
  AddNodes(graph);
  return model.SerializeAsString();
}

}  // namespace ember::digits

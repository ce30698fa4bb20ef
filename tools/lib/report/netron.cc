#include "tools/lib/report/netron.h"

#include <set>

#include "frontends/onnx/node/tensor_proto.h"
#include "tensor/text/text.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/lib/report/module_graph.h"

namespace ember::tools {
namespace {

void SetString(onnx::NodeProto& node, const char* name,
               const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

void SetType(const vm::Program& program, const vm::TensorSignature& signature,
             onnx::ValueInfoProto& info) {
  info.set_name(signature.name);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::DTypeToOnnx(signature.type));
  onnx::TensorShapeProto& shape = *tensor.mutable_shape();
  for (const int64_t dim : signature.dims) {
    onnx::TensorShapeProto::Dimension& added = *shape.add_dim();
    if (dim >= 0) {
      added.set_dim_value(dim);
    } else {
      added.set_dim_param(program.symbols[static_cast<size_t>(-1 - dim)]);
    }
  }
}

// Returns the ONNX name of a node's value: the name of an input, or "%" and the
// index of any other node.
std::string ValueName(const ModuleGraph& graph, size_t node) {
  if (graph.nodes[node].kind == GraphNode::Kind::kInput)
    return graph.nodes[node].name;
  return "%" + std::to_string(node);
}

std::string ConstantName(const vm::ModuleDefinition& module, size_t constant) {
  const std::string& name = module.constants[constant].name;
  return "constant " + std::to_string(constant) +
         (name.empty() ? "" : " " + name);
}

void AddNode(const vm::ModuleDefinition& module, const ModuleGraph& graph,
             size_t number, onnx::GraphProto& proto) {
  const GraphNode& node = graph.nodes[number];
  const bool result = node.kind == GraphNode::Kind::kResult;
  onnx::NodeProto& added = *proto.add_node();
  added.set_op_type(result ? "result" : node.name);
  added.set_name(node.origin.empty() ? node.name : node.origin);
  added.set_domain("ember");
  for (const GraphEdge& edge : graph.edges) {
    if (edge.to == number) added.add_input(ValueName(graph, edge.from));
  }
  for (const size_t constant : node.constants)
    added.add_input(ConstantName(module, constant));
  added.add_output(result ? node.name : ValueName(graph, number));
  if (!node.type.empty()) SetString(added, "type", node.type);
  if (node.dispatch >= 0) {
    SetString(
        added, "definition",
        tensor::Print(module.dispatches[static_cast<size_t>(node.dispatch)]));
  }
}

void AddConstant(const vm::ModuleDefinition& module, size_t number,
                 onnx::GraphProto& proto) {
  const vm::Constant& constant = module.constants[number];
  onnx::TensorProto& tensor = *proto.add_initializer();
  tensor.set_name(ConstantName(module, number));
  tensor.set_data_type(onnx::DTypeToOnnx(constant.type));
  for (const int64_t dim : constant.dims) tensor.add_dims(dim);
  // Constants are declared as external data without values, because Netron's
  // picture does not show values.
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("in-the-module");
}

}  // namespace

std::string PrintNetron(const vm::ModuleDefinition& module) {
  const ModuleGraph graph = MakeModuleGraph(module);
  const vm::Program& program = module.programs.front();
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name(module.producer);
  onnx::OperatorSetIdProto& domain = *model.add_opset_import();
  domain.set_domain("ember");
  domain.set_version(1);
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name);
  for (const vm::TensorSignature& input : program.inputs)
    SetType(program, input, *proto.add_input());
  for (const vm::TensorSignature& result : program.results) {
    SetType(program, result, *proto.add_output());
  }
  std::set<size_t> constants;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == GraphNode::Kind::kInput) continue;
    AddNode(module, graph, i, proto);
    constants.insert(graph.nodes[i].constants.begin(),
                     graph.nodes[i].constants.end());
  }
  for (const size_t constant : constants) AddConstant(module, constant, proto);
  return model.SerializeAsString();
}

}  // namespace ember::tools

#include "frontends/tensorflow/testing/graph_maker.h"

#include <google/protobuf/text_format.h>

#include <cstring>

namespace ember::tensorflow {

TestAttribute Int(const std::string& name, int64_t value) {
  AttrValue attribute;
  attribute.set_i(value);
  return {name, attribute};
}
TestAttribute Float(const std::string& name, float value) {
  AttrValue attribute;
  attribute.set_f(value);
  return {name, attribute};
}
TestAttribute Flag(const std::string& name, bool value) {
  AttrValue attribute;
  attribute.set_b(value);
  return {name, attribute};
}
TestAttribute Text(const std::string& name, const std::string& value) {
  AttrValue attribute;
  attribute.set_s(value);
  return {name, attribute};
}
TestAttribute Texts(const std::string& name,
                    const std::vector<std::string>& values) {
  AttrValue attribute;
  for (const std::string& value : values)
    attribute.mutable_list()->add_s(value);
  return {name, attribute};
}
TestAttribute Type(const std::string& name, DataType value) {
  AttrValue attribute;
  attribute.set_type(value);
  return {name, attribute};
}
TestAttribute Ints(const std::string& name,
                   const std::vector<int64_t>& values) {
  AttrValue attribute;
  attribute.mutable_list();
  for (const int64_t value : values) attribute.mutable_list()->add_i(value);
  return {name, attribute};
}
TestAttribute Floats(const std::string& name,
                     const std::vector<float>& values) {
  AttrValue attribute;
  attribute.mutable_list();
  for (const float value : values) attribute.mutable_list()->add_f(value);
  return {name, attribute};
}
TestAttribute ShapeOf(const std::string& name,
                      const std::vector<int64_t>& dims) {
  AttrValue attribute;
  attribute.mutable_shape();
  for (const int64_t dim : dims)
    attribute.mutable_shape()->add_dim()->set_size(dim);
  return {name, attribute};
}
TestAttribute NoRank(const std::string& name) {
  AttrValue attribute;
  attribute.mutable_shape()->set_unknown_rank(true);
  return {name, attribute};
}
TestAttribute Function(const std::string& name, const std::string& function) {
  AttrValue attribute;
  attribute.mutable_func()->set_name(function);
  return {name, attribute};
}
TestAttribute Functions(const std::string& name,
                        const std::vector<std::string>& functions) {
  AttrValue attribute;
  for (const std::string& function : functions)
    attribute.mutable_list()->add_func()->set_name(function);
  return {name, attribute};
}

std::span<const uint8_t> AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

NodeDef MakeNode(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs,
                 const std::vector<TestAttribute>& attributes) {
  NodeDef node;
  node.set_name(name);
  node.set_op(op);
  for (const std::string& input : inputs) node.add_input(input);
  for (const auto& [key, value] : attributes)
    (*node.mutable_attr())[key] = value;
  return node;
}

NodeDef MakeConst(const std::string& name, DataType type,
                  const std::vector<int64_t>& dims, const std::string& bytes) {
  AttrValue value;
  value.mutable_tensor()->set_dtype(type);
  value.mutable_tensor()->mutable_tensor_shape();
  for (const int64_t dim : dims)
    value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(dim);
  value.mutable_tensor()->set_tensor_content(bytes);
  return MakeNode(name, "Const", {}, {{"value", value}, Type("dtype", type)});
}

NodeDef MakeScalar(const std::string& name, float value) {
  return MakeConst(name, DT_FLOAT, {},
                   {reinterpret_cast<const char*>(&value), sizeof(value)});
}

NodeDef MakeInts(const std::string& name, const std::vector<int32_t>& values) {
  return MakeConst(name, DT_INT32, {static_cast<int64_t>(values.size())},
                   {reinterpret_cast<const char*>(values.data()),
                    values.size() * sizeof(int32_t)});
}

NodeDef MakeInt(const std::string& name, int32_t value) {
  return MakeConst(name, DT_INT32, {},
                   {reinterpret_cast<const char*>(&value), sizeof(value)});
}

void GraphMaker::Placeholder(const std::string& name, DataType type,
                             const std::vector<int64_t>& dims) {
  Node(name, "Placeholder", {}, {Type("dtype", type), ShapeOf("shape", dims)});
}

void GraphMaker::Node(const std::string& name, const std::string& op,
                      const std::vector<std::string>& inputs,
                      const std::vector<TestAttribute>& attributes) {
  Add(MakeNode(name, op, inputs, attributes));
}

void GraphMaker::Function(
    const std::string& name, const std::vector<std::string>& arguments,
    const std::vector<NodeDef>& nodes,
    const std::vector<std::pair<std::string, std::string>>& results,
    const std::vector<std::string>& control_results) {
  FunctionDef& function = *graph_.mutable_library()->add_function();
  function.mutable_signature()->set_name(name);
  for (const std::string& argument : arguments)
    function.mutable_signature()->add_input_arg()->set_name(argument);
  for (const NodeDef& node : nodes) *function.add_node_def() = node;
  for (const auto& [result, source] : results) {
    function.mutable_signature()->add_output_arg()->set_name(result);
    (*function.mutable_ret())[result] = source;
  }
  for (const std::string& control : control_results) {
    function.mutable_signature()->add_control_output(control);
    (*function.mutable_control_ret())[control] = control;
  }
}

std::string GraphMaker::Finish() const { return graph_.SerializeAsString(); }

std::string GraphMaker::FinishText() const {
  std::string text;
  google::protobuf::TextFormat::PrintToString(graph_, &text);
  return text;
}

}  // namespace ember::tensorflow

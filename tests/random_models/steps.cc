// Implements Checker::ExplainBySteps.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "frontends/onnx/node/tensor_proto.h"
#include "tests/random_models/checker.h"
#include "tests/random_models/judge.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Operators for which rounding alone may explain a difference from ONNX Runtime
// (ExplainBySteps). Their results jump if their operands are equal, whole or
// zero; or they magnify the rounding errors of small operands, as products do;
// or ONNX Runtime computes them with errors that are large compared with their
// small results: spectra whose length is not a power of two (for 12 samples the
// error is 2.6e-6 of the largest element).
constexpr std::string_view kSteps[] = {"ArgMax",
                                       "ArgMin",
                                       "Cast",
                                       "CumProd",
                                       "DFT",
                                       "Ceil",
                                       "Div",
                                       "Reciprocal",
                                       "DynamicQuantizeLinear",
                                       "Equal",
                                       "Floor",
                                       "Greater",
                                       "GreaterOrEqual",
                                       "Hardmax",
                                       "Less",
                                       "LessOrEqual",
                                       "Log",
                                       "Mod",
                                       "NonMaxSuppression",
                                       "NonZero",
                                       "Not",
                                       "QuantizeLinear",
                                       "ReduceLogSum",
                                       "ReduceProd",
                                       "Round",
                                       "STFT",
                                       "Sign",
                                       "TopK",
                                       "Unique",
                                       "Shrink",
                                       "ThresholdedRelu"};

// True if the node, or one in its subgraphs, is one of kSteps.
bool IsStep(const onnx::NodeProto& node) {
  if (std::find(std::begin(kSteps), std::end(kSteps), node.op_type()) !=
      std::end(kSteps))
    return true;
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const onnx::AttributeProto& attribute) {
                       const auto& nodes = attribute.g().node();
                       return std::any_of(nodes.begin(), nodes.end(), IsStep);
                     });
}

// Collects the names that the node uses, in its subgraphs, too.
void CollectOperands(const onnx::NodeProto& node,
                     std::vector<std::string>& names) {
  names.insert(names.end(), node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    for (const onnx::NodeProto& inner : attribute.g().node())
      CollectOperands(inner, names);
  }
}

void AddInput(RandomModel& model, const std::string& name,
              const vm::Tensor& tensor) {
  onnx::ValueInfoProto& input = *model.proto.mutable_graph()->add_input();
  input.set_name(name);
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(tensor.strings ? int32_t{TensorProto::STRING}
                                    : onnx::DTypeToOnnx(tensor.type));
  type.mutable_shape();
  for (const int64_t dim : tensor.dims)
    type.mutable_shape()->add_dim()->set_dim_value(dim);
  model.inputs.emplace_back(name, tensor);
}

}  // namespace

StatusOr<std::string> Checker::ExplainBySteps(const RandomModel& model) {
  const onnx::GraphProto& graph = model.proto.graph();
  if (ort_ == nullptr ||
      !std::any_of(graph.node().begin(), graph.node().end(), IsStep))
    return std::string();
  // In this copy of the model all values between nodes are outputs, so that
  // ONNX Runtime returns all of them.
  RandomModel shown = model;
  auto& outputs = *shown.proto.mutable_graph()->mutable_output();
  outputs.Clear();
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      if (!name.empty()) outputs.Add()->set_name(name);
    }
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<OrtResult> ort, ort_->Run({&shown}));
  if (ort[0].outcome != OrtResult::kResults) return std::string();
  std::map<std::string, vm::Tensor> values(ort[0].results.begin(),
                                           ort[0].results.end());
  for (const auto& [name, tensor] : model.inputs) values[name] = tensor;
  for (const onnx::NodeProto& node : graph.node()) {
    RandomModel one;
    one.proto = model.proto;
    onnx::GraphProto& alone = *one.proto.mutable_graph();
    alone.clear_node();
    alone.clear_input();
    alone.clear_output();
    if (node.op_type() == "Constant") continue;
    // Values that must remain constants, such as sizes, when a node is run
    // alone.
    std::set<std::string> constants;
    for (const onnx::NodeProto& constant : graph.node()) {
      if (constant.op_type() != "Constant") continue;
      *alone.add_node() = constant;
      constants.insert(constant.output(0));
    }
    *alone.add_node() = node;
    std::set<std::string> taken;
    std::vector<std::string> operands;
    CollectOperands(node, operands);
    for (const std::string& name : operands) {
      if (constants.count(name) == 0 && values.count(name) > 0 &&
          taken.insert(name).second)
        AddInput(one, name, values.at(name));
    }
    NamedTensors want;
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      alone.add_output()->set_name(name);
      want.emplace_back(name, values.at(name));
    }
    const auto module = Engine::Compile(one.proto);
    if (!module.ok()) return std::string();
    for (const int tier : options_.tiers) {
      const auto got = engine_.Run(*module, one.inputs, tier);
      if (!got.ok() || !Difference(*got, want).empty()) return std::string();
    }
  }
  return std::string("steps");
}

}  // namespace ember::tests

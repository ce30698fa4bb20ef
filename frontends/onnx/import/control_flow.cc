// Nodes with subgraphs: chooses the function that imports the node, and the
// graph or region to which the nodes of its subgraphs are added.
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/generation/generation.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/node/context.h"

namespace ember::onnx {

NodeContext GraphImporter::ContextOf(std::shared_ptr<const void> owner,
                                     const NodeProto& node,
                                     const std::string& origin, int opset,
                                     std::vector<Tensor> inputs, Scope& scope) {
  NodeContext::Source source;
  source.node = &node;
  source.owner = std::move(owner);
  source.files = &files_;
  source.origin = origin;
  source.opset = opset;
  source.data_dependent_inputs = options_.data_dependent_inputs;
  source.import_subgraph = [this, &scope, origin](
                               const GraphProto& graph,
                               const std::vector<Tensor>& arguments) {
    Scope body = SubgraphScope(scope, origin, nullptr);
    return ImportSubgraph(graph, arguments, body);
  };
  return NodeContext(*scope.builder, std::move(source), std::move(inputs));
}

GraphImporter::Scope GraphImporter::SubgraphScope(Scope& scope,
                                                  const std::string& origin,
                                                  graph::Region* region) const {
  Scope body;
  body.opsets = scope.opsets;
  body.parent = &scope;
  body.region = region;
  body.builder = region != nullptr ? &region->builder() : scope.builder;
  body.prefix = origin + "/";
  body.is_function = scope.is_function;
  body.bindings = scope.bindings;
  body.depth = scope.depth + 1;
  return body;
}

StatusOr<std::vector<Tensor>> GraphImporter::ImportSubgraph(
    const GraphProto& graph, const std::vector<Tensor>& inputs, Scope& scope) {
  if (scope.depth > kMaxCallDepth) {
    return InvalidArgumentError("'" + scope.prefix + "': expected at most " +
                                std::to_string(kMaxCallDepth) +
                                " subgraphs in each other, found more");
  }
  if (static_cast<size_t>(graph.input_size()) != inputs.size()) {
    return InvalidArgumentError(
        "'" + scope.prefix + "': expected " + std::to_string(inputs.size()) +
        " inputs of the subgraph, found " + std::to_string(graph.input_size()));
  }
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string& name = graph.input(i).name();
    if (!scope.values.emplace(name, inputs[static_cast<size_t>(i)]).second) {
      return InvalidArgumentError("'" + scope.prefix + "': input '" + name +
                                  "' of the subgraph occurs twice");
    }
  }
  scope.stated = {&graph.value_info(), &graph.output()};
  EMBER_RETURN_IF_ERROR(AddInitializers(graph, scope));
  return ImportOutputs(graph, scope);
}

Status GraphImporter::SetOutputs(const NodeContext& c,
                                 const std::vector<Tensor>& values,
                                 Scope& scope) {
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  const NodeProto& node = c.node();
  if (values.size() < static_cast<size_t>(node.output_size())) {
    return InvalidArgumentError("node '" + c.origin() + "': expected " +
                                std::to_string(node.output_size()) +
                                " outputs of the subgraph, found " +
                                std::to_string(values.size()));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const Tensor value = values[static_cast<size_t>(i)];
    if (value.value() != nullptr && value.value()->name().empty())
      value.value()->set_name(node.output(i));
    scope.values[node.output(i)] = value;
  }
  return OkStatus();
}

StatusOr<bool> GraphImporter::ImportControlFlow(
    std::shared_ptr<const void> owner, const NodeProto& node,
    const std::string& origin, const std::vector<Tensor>& inputs,
    Scope& scope) {
  const int opset = scope.opsets->VersionOf("");
  const std::string& name = node.op_type();
  if (const GenerationImporter generate = FindGeneration(node.domain(), name)) {
    NodeContext c =
        ContextOf(std::move(owner), node, origin, opset, inputs, scope);
    generate(c,
             [&](const GraphProto& graph, const std::vector<Tensor>& arguments,
                 graph::Region* region) {
               Scope body = SubgraphScope(scope, origin, region);
               return ImportSubgraph(graph, arguments, body);
             });
    EMBER_RETURN_IF_ERROR(c.builder().status());
    EMBER_RETURN_IF_ERROR(SetOutputs(c, c.outputs(), scope));
    return true;
  }
  if (!CanonicalDomain(node.domain()).empty()) return false;
  Status (GraphImporter::*import)(NodeContext&, Scope&) = nullptr;
  if (name == "If" && !inputs.empty() && inputs[0])
    import = &GraphImporter::ImportIf;
  if (name == "Loop") import = &GraphImporter::ImportLoop;
  if (name == "SequenceMap") import = &GraphImporter::ImportSequenceMap;
  if (name == "Scan") {
    import = opset < 9 ? &GraphImporter::ImportBatchedScan
                       : &GraphImporter::ImportScan;
  }
  if (import == nullptr) return false;
  NodeContext c =
      ContextOf(std::move(owner), node, origin, opset, inputs, scope);
  EMBER_RETURN_IF_ERROR((this->*import)(c, scope));
  return true;
}

}  // namespace ember::onnx

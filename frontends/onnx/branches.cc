// If: both branches become regions, or one of them is imported in place.
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/control_flow.h"
#include "frontends/onnx/graph_importer.h"
#include "frontends/onnx/graph_inputs.h"
#include "frontends/onnx/region_values.h"
#include "frontends/onnx/sequence.h"

namespace ember::onnx {
namespace {

// Whether one value can be either; sequences become of one kind.
bool SameKind(const Tensor& a, const Tensor& b) {
  if (a.sequence() != nullptr && b.sequence() != nullptr) return true;
  for (const Tensor* one : {&a, &b}) {
    // A tensor becomes an optional, but no sequence.
    if (one->sequence() != nullptr)
      return one->sequence()->kind == SequenceKind::kOptionalTensor;
  }
  return a.rank() == b.rank() && a.dtype() == b.dtype() &&
         a.narrow_type() == b.narrow_type();
}

bool SameKinds(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameKind(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

bool GraphImporter::FitStatedTypes(const NodeProto& node,
                                   const std::vector<Tensor>& values,
                                   const Scope& scope) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (static_cast<size_t>(i) >= values.size()) return true;  // refused later
    for (const ValueInfoList* list : scope.stated) {
      for (const ValueInfoProto& stated : *list) {
        if (stated.name() == node.output(i) &&
            !FitsType(stated.type(), values[static_cast<size_t>(i)]))
          return false;
      }
    }
  }
  return true;
}

Status GraphImporter::ImportBranch(const NodeProto& node,
                                   const std::string& origin, Tensor condition,
                                   bool is_then, const GraphProto& branch,
                                   Scope& scope) {
  if (condition) {
    scope.builder->SetOrigin(origin);
    const Tensor holds = is_then ? condition : Not(condition);
    scope.builder->Require(
        holds.value(),
        std::string("this module was compiled for the ") +
            (is_then ? "then" : "else") +
            " branch, found a condition that is " +
            (is_then ? "false" : "true") +
            "; the branches' results differ in rank or type: pin the dims that "
            "the condition depends on when compiling");
  }
  Scope body = SubgraphScope(scope, origin, nullptr);
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         ImportSubgraph(branch, {}, body));
  return SetOutputs(node, origin, outputs, scope);
}

Status GraphImporter::ImportIf(const NodeProto& node, const std::string& origin,
                               Tensor condition, const GraphProto& then,
                               const GraphProto& otherwise, Scope& scope) {
  graph::GraphBuilder& builder = *scope.builder;
  const auto known = builder.ConstantContents(condition.value());
  if (known && known->size() == 1) {
    const bool holds = known->front() != 0;
    return ImportBranch(node, origin, Tensor(), holds, holds ? then : otherwise,
                        scope);
  }
  condition = Cast(Reshape(condition, {}), DType::kBool);
  if (const auto chosen = choices_.Find(origin)) {
    return ImportBranch(node, origin, condition, *chosen,
                        *chosen ? then : otherwise, scope);
  }
  graph::IfRegions regions(builder);
  const auto import = [&](const GraphProto& graph, graph::Region& region) {
    Scope body = SubgraphScope(scope, origin, &region);
    return ImportSubgraph(graph, {}, body);
  };
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> then_outputs,
                         import(then, regions.then()));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> else_outputs,
                         import(otherwise, regions.otherwise()));
  if (then_outputs.size() != else_outputs.size()) {
    return InvalidArgumentError(
        "node '" + origin +
        "': expected as many outputs of both branches, found " +
        std::to_string(then_outputs.size()) + " and " +
        std::to_string(else_outputs.size()));
  }
  if (!SameKinds(then_outputs, else_outputs)) {
    // An exporter's condition is the case that its author wrote: a dim that is
    // squeezed is 1.
    const bool is_then = FitStatedTypes(node, then_outputs, scope) ||
                         !FitStatedTypes(node, else_outputs, scope);
    choices_.Choose(origin, is_then);
    return ImportBranch(node, origin, condition, is_then,
                        is_then ? then : otherwise, scope);
  }
  // Both give values of one kind, sequences of one rank.
  RegionValues values(then_outputs);
  values.Widen(else_outputs);
  builder.SetOrigin(origin);
  const std::vector<graph::Value*> results =
      regions.Build(condition.value(), values.Flatten(then_outputs),
                    values.Flatten(else_outputs));
  EMBER_RETURN_IF_ERROR(builder.status());
  return SetOutputs(node, origin, values.Rebuild(builder, results), scope);
}

}  // namespace ember::onnx

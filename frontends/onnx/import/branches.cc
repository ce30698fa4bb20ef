// Imports If: both branches become regions, or one of them is imported in
// place. If they give values of different ranks or types, no value could be the
// result of both; then each branch is imported with all nodes that follow
// (continuations.cc).
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/graph_inputs.h"
#include "frontends/onnx/import/region_values.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/sequence.h"

namespace ember::onnx {
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

namespace {

// Returns advice for an error: the way in which the user compiles a module for
// the branch of an If that was not imported.
std::string HowToChoose(const Tensor& condition) {
  std::set<std::string> names;
  CollectInputs(condition.value(), names);
  names.erase("");
  if (names.empty())
    return "compile with other dims (--shape) for the other branch";
  std::string text = "the condition follows from ";
  std::string flags;
  for (const std::string& name : names) {
    text += (flags.empty() ? "'" : ", '") + name + "'";
    flags += " --constant=" + name + "=VALUE";
  }
  return text + ": compile with" + flags + " for the other branch";
}

}  // namespace

Status GraphImporter::ImportBranch(NodeContext& c, Tensor condition,
                                   bool is_then, const GraphProto& branch,
                                   Scope& scope) {
  if (condition) {
    c.builder().SetOrigin(c.origin());
    const Tensor holds = is_then ? condition : Not(condition);
    c.builder().Require(holds.value(),
                        std::string("this module was compiled for the ") +
                            (is_then ? "then" : "else") +
                            " branch, found a condition that is " +
                            (is_then ? "false" : "true") +
                            "; the branches' results differ in rank or type; " +
                            HowToChoose(condition));
  }
  Scope body = SubgraphScope(scope, c.origin(), nullptr);
  body.in_place_branch = true;
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         ImportSubgraph(branch, {}, body));
  return SetOutputs(c, outputs, scope);
}

Status GraphImporter::ImportIf(NodeContext& c, Scope& scope) {
  graph::GraphBuilder& builder = c.builder();
  const GraphProto* then = c.Subgraph("then_branch");
  const GraphProto* otherwise = c.Subgraph("else_branch");
  if (!c.ok()) return builder.status();
  const auto import_one = [&](Tensor condition, bool is_then) {
    return ImportBranch(c, condition, is_then, is_then ? *then : *otherwise,
                        scope);
  };
  const auto known = builder.ConstantContents(c.Input(0).value());
  if (known && known->size() == 1)
    return import_one(Tensor(), known->front() != 0);
  const Tensor condition = Cast(Reshape(c.Input(0), {}), DType::kBool);
  if (!c.ok()) return builder.status();
  if (const auto taken = taken_branches_.find(c.origin());
      taken != taken_branches_.end())
    return import_one(Tensor(), taken->second);
  if (const auto chosen = choices_.Find(c.origin()))
    return import_one(condition, *chosen);
  graph::IfRegions regions(builder);
  const auto import = [&](const GraphProto& graph, graph::Region& region) {
    Scope body = SubgraphScope(scope, c.origin(), &region);
    body.branch_of = Split{c.origin(), condition};
    return ImportSubgraph(graph, {}, body);
  };
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> then_outputs,
                         import(*then, regions.then()));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> else_outputs,
                         import(*otherwise, regions.otherwise()));
  if (then_outputs.size() != else_outputs.size()) {
    c.FailInvalid("expected as many outputs of both branches, found " +
                  std::to_string(then_outputs.size()) + " and " +
                  std::to_string(else_outputs.size()));
    return builder.status();
  }
  if (!SameKinds(then_outputs, else_outputs)) {
    // Exporters write Ifs whose branches give different ranks, for example with
    // the condition "this dim is 1" around a Squeeze. If the outputs of only
    // one branch fit the types that the model states, the author meant that
    // branch. If both or neither fit, each branch is imported with all nodes
    // that follow. If that may not be tried, the branch is taken for which an
    // open dim need not be 1.
    const bool then_fits = FitStatedTypes(c.node(), then_outputs, scope);
    const bool else_fits = FitStatedTypes(c.node(), else_outputs, scope);
    if (then_fits == else_fits && MaySplit(c.origin())) {
      split_ = {c.origin(), condition};
      return UnimplementedError("node '" + c.origin() +
                                "': its branches give different kinds");
    }
    const bool is_then = then_fits == else_fits
                             ? !regions.then().builder().AssumesDims() ||
                                   regions.otherwise().builder().AssumesDims()
                             : then_fits;
    choices_.Choose(c.origin(), is_then);
    return import_one(condition, is_then);
  }
  // An `if` has one list of results for both branches. So two corresponding
  // values get a common kind (a tensor becomes an optional), and two
  // corresponding sequences a common rank.
  RegionValues values(then_outputs);
  values.Widen(else_outputs);
  builder.SetOrigin(c.origin());
  const std::vector<graph::Value*> results =
      regions.Build(condition.value(), values.Flatten(then_outputs),
                    values.Flatten(else_outputs));
  if (!c.ok()) return builder.status();
  return SetOutputs(c, values.Rebuild(builder, results), scope);
}

}  // namespace ember::onnx

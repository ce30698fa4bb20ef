// Imports an If whose branches give values of different ranks or types. No
// graph value can be either of them. So everything that follows the If is
// imported once for each branch, in the regions of an `if`; the results of this
// `if` are those of the graph that contains the node. If that graph is itself a
// branch of another If and its results differ, everything that follows the
// outer If is imported for each branch.
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/region_values.h"

namespace ember::onnx {
namespace {

// Largest nesting depth of splits. Each level doubles the nodes that follow.
constexpr size_t kMaxInEachOther = 3;

}  // namespace

bool GraphImporter::MaySplit(const std::string& origin) const {
  return taken_branches_.size() < kMaxInEachOther &&
         !not_split_.contains(origin);
}

std::optional<GraphImporter::Split> GraphImporter::SplitAround(
    const Split& failed, const Scope& scope) const {
  if (scope.in_place_branch) return failed;
  if (scope.branch_of && MaySplit(scope.branch_of->origin))
    return scope.branch_of;
  return std::nullopt;
}

StatusOr<std::vector<Tensor>> GraphImporter::ImportBothWays(
    const GraphProto& graph, const std::vector<int>& order, size_t first,
    const Split& split, Scope& scope) {
  graph::GraphBuilder& builder = *scope.builder;
  graph::IfRegions regions(builder);
  // An error in a region must not fail the whole import, because the caller can
  // then import the model without this `if`.
  const auto import = [&](bool is_then, graph::Region& region) {
    Scope body = SubgraphScope(scope, "", &region);
    body.prefix = scope.prefix;
    body.stated = scope.stated;
    taken_branches_[split.origin] = is_then;
    StatusOr<std::vector<Tensor>> outputs =
        ImportFrom(graph, order, first, body);
    taken_branches_.erase(split.origin);
    const Status& status = region.builder().status();
    if (outputs.ok() && !status.ok()) outputs = status;
    return outputs;
  };
  const StatusOr<std::vector<Tensor>> then = import(true, regions.then());
  if (!then.ok()) return std::vector<Tensor>();
  const StatusOr<std::vector<Tensor>> otherwise =
      import(false, regions.otherwise());
  if (!otherwise.ok() || !SameKinds(*then, *otherwise))
    return std::vector<Tensor>();
  RegionValues values(*then);
  values.Widen(*otherwise);
  builder.SetOrigin(split.origin);
  const std::vector<graph::Value*> results =
      regions.Build(split.condition.value(), values.Flatten(*then),
                    values.Flatten(*otherwise));
  EMBER_RETURN_IF_ERROR(builder.status());
  return values.Rebuild(builder, results);
}

}  // namespace ember::onnx

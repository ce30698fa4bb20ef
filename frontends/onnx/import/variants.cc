// Imports a model whose open dims may broadcast as two variants, of which the
// program runs one. The first is what the model's author most likely meant: the
// dims are equal. The second is right for all extents.
//
// The check reads only the inputs' dims, so that a usual run costs no more than
// without the second variant. Constants are shared.
#include <string>
#include <vector>

#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/region_values.h"

namespace ember::onnx {
namespace {

using graph::AssumedDims;
using graph::Broadcasting;
using graph::Dim;
using graph::GraphBuilder;
using graph::Value;

// Returns bool[]: true if the two dims of each pair are equal.
Value* AllEqual(GraphBuilder& builder, const std::vector<AssumedDims>& pairs) {
  Dim difference;
  for (const AssumedDims& pair : pairs) {
    difference = difference + Maximum(pair.a, pair.b) - Minimum(pair.a, pair.b);
  }
  return builder.Apply(
      "equal", {builder.DimValue(difference), builder.Scalar(0, DType::kI64)});
}

}  // namespace

StatusOr<std::vector<Tensor>> GraphImporter::ImportVariants(Scope& scope) {
  builder_.SetOrigin("broadcasting");
  Value* const condition = AllEqual(builder_, variants_);
  graph::IfRegions regions(builder_);
  const auto import = [&](graph::Region& region, Broadcasting broadcasting) {
    region.builder().SetBroadcasting(broadcasting);
    Scope body = SubgraphScope(scope, "", &region);
    body.prefix = scope.prefix;
    body.stated = scope.stated;
    return ImportOutputs(model_->graph(), body);
  };
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> equal,
                         import(regions.then(), Broadcasting::kAssumeEqual));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<Tensor> any,
      import(regions.otherwise(), Broadcasting::kDecidedByData));
  if (!SameKinds(equal, any))
    return InternalError("variants of the graph give different kinds");
  RegionValues values(equal);
  values.Widen(any);
  builder_.SetOrigin("broadcasting");
  const std::vector<Value*> results =
      regions.Build(condition, values.Flatten(equal), values.Flatten(any));
  EMBER_RETURN_IF_ERROR(builder_.status());
  return values.Rebuild(builder_, results);
}

}  // namespace ember::onnx

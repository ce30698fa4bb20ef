#include "compiler/graph/operators/stage_context.h"

#include <string>
#include <vector>

namespace ember::graph {

using tensor::Scalar;
using tensor::StageBuilder;

Scalar BuilderStageContext::SpatialAxis(const Dim& extent) {
  return stage_.SpatialAxis("i" + std::to_string(spatial_axes_++),
                            Extent(extent));
}

Scalar BuilderStageContext::ReductionAxis(const Dim& extent) {
  return stage_.ReductionAxis("k" + std::to_string(reduction_axes_++),
                              Extent(extent));
}

void BuilderStageContext::Yield(Scalar value, int result,
                                std::span<const Scalar> indices,
                                tensor::Combiner combiner,
                                tensor::Update update) {
  stage_.Yield(value, ResultBuffer(result), indices, combiner, update);
}

void BuilderStageContext::YieldFold(std::span<const FoldValue> values,
                                    std::span<const Scalar> indices,
                                    const StageBuilder::Combine& combine) {
  std::vector<StageBuilder::FoldResult> results;
  for (const FoldValue& value : values) {
    results.push_back({value.value,
                       value.initial,
                       value.result < 0 ? -1 : ResultBuffer(value.result),
                       {indices.begin(), indices.end()}});
  }
  stage_.YieldFold(results, combine);
}

void YieldElements(StageContext& context) {
  const Operation& operation = context.operation();
  std::vector<Scalar> indices;
  for (const Dim& dim : operation.result()->shape())
    indices.push_back(context.SpatialAxis(dim));
  const Scalar value = operation.record().definition.element(context, indices);
  context.Yield(value, 0, indices);
}

}  // namespace ember::graph

// Implements the part of StageContext that does not depend on where operands
// come from: scalars, axes and results of a stage that a tensor::StageBuilder
// builds.
//
//   class MyContext final : public BuilderStageContext {
//     … operation(), Load, Pad, Extent: how this context reads operands;
//     int ResultBuffer(int result) const override { … }
//   };
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_STAGE_CONTEXT_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_STAGE_CONTEXT_H_

#include <span>

#include "compiler/graph/operators.h"
#include "tensor/builder/builder.h"

namespace ember::graph {

class BuilderStageContext : public StageContext {
 public:
  // Makes a context that builds `stage`. The stage must outlive the context.
  explicit BuilderStageContext(tensor::StageBuilder& stage) : stage_(stage) {}

  tensor::Scalar Index(int64_t value) final { return stage_.Index(value); }
  tensor::Scalar Constant(double value, DType type) final {
    return stage_.Value(value, type);
  }
  tensor::Scalar IntegerConstant(int64_t value, DType type) final {
    return stage_.IntegerValue(value, type);
  }
  tensor::Scalar SpatialAxis(const Dim& extent) final;
  tensor::Scalar ReductionAxis(const Dim& extent) final;
  void Yield(tensor::Scalar value, int result,
             std::span<const tensor::Scalar> indices, tensor::Combiner combiner,
             tensor::Update update) final;
  void YieldFold(std::span<const FoldValue> values,
                 std::span<const tensor::Scalar> indices,
                 const tensor::StageBuilder::Combine& combine) final;

 protected:
  // Returns the number of the dispatch's buffer for result number `result` of
  // the operation.
  virtual int ResultBuffer(int result) const = 0;
  tensor::StageBuilder& stage() { return stage_; }

 private:
  tensor::StageBuilder& stage_;
  int spatial_axes_ = 0;
  int reduction_axes_ = 0;
};

// Builds the stage of an operator that is defined by `element`: each element of
// the result, at its own index.
void YieldElements(StageContext& context);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_STAGE_CONTEXT_H_

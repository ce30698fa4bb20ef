#include "compiler/graph/operation_dispatch.h"

#include <deque>
#include <string>
#include <vector>

#include "compiler/graph/operators.h"

namespace ember::graph {
namespace {

using tensor::BufferKind;
using tensor::DispatchBuilder;
using tensor::Scalar;
using tensor::StageBuilder;

// The buffers of one operation.
struct OperationBuffers {
  DispatchBuilder& builder;
  const Operation& operation;
  std::vector<int> operands, results;
};

class BufferContext final : public StageContext {
 public:
  BufferContext(OperationBuffers& buffers, StageBuilder& stage)
      : buffers_(buffers), stage_(stage) {}

  const Operation& operation() const override { return buffers_.operation; }
  Scalar Load(int operand, std::span<const Scalar> indices) override {
    return stage_.Load(buffers_.operands[static_cast<size_t>(operand)],
                       indices);
  }
  Scalar Pad(int operand, std::span<const Scalar> indices,
             Scalar otherwise) override {
    return stage_.Pad(buffers_.operands[static_cast<size_t>(operand)], indices,
                      otherwise);
  }
  Scalar Extent(const Dim& dim) override {
    return ExtentScalar(buffers_.builder, dim);
  }
  Scalar Index(int64_t value) override { return stage_.Index(value); }
  Scalar Constant(double value, DType type) override {
    return stage_.Value(value, type);
  }
  Scalar IntegerConstant(int64_t value, DType type) override {
    return stage_.IntegerValue(value, type);
  }

  Scalar SpatialAxis(const Dim& extent) override {
    return stage_.SpatialAxis("i" + std::to_string(spatial_++), Extent(extent));
  }
  Scalar ReductionAxis(const Dim& extent) override {
    return stage_.ReductionAxis("k" + std::to_string(reduction_++),
                                Extent(extent));
  }
  void Yield(Scalar value, int result, std::span<const Scalar> indices,
             tensor::Combiner combiner, tensor::Update update) override {
    stage_.Yield(value, buffers_.results[static_cast<size_t>(result)], indices,
                 combiner, update);
  }
  void YieldFold(std::span<const FoldValue> values,
                 std::span<const Scalar> indices,
                 const StageBuilder::Combine& combine) override {
    std::vector<StageBuilder::FoldResult> results;
    for (const FoldValue& value : values) {
      const int buffer =
          value.result < 0
              ? -1
              : buffers_.results[static_cast<size_t>(value.result)];
      results.push_back({value.value,
                         value.initial,
                         buffer,
                         {indices.begin(), indices.end()}});
    }
    stage_.YieldFold(results, combine);
  }

 private:
  OperationBuffers& buffers_;
  StageBuilder& stage_;
  int spatial_ = 0;
  int reduction_ = 0;
};

class BufferStagesContext final : public StagesContext {
 public:
  explicit BufferStagesContext(OperationBuffers& buffers) : buffers_(buffers) {}
  const Operation& operation() const override { return buffers_.operation; }
  StageContext& AddStage() override {
    return stages_.emplace_back(buffers_, buffers_.builder.AddStage());
  }

 private:
  OperationBuffers& buffers_;
  std::deque<BufferContext> stages_;
};

int AddBuffer(DispatchBuilder& builder, std::string name,
              const TensorType& type, BufferKind kind) {
  std::vector<Scalar> extents;
  for (const Dim& dim : type.shape)
    extents.push_back(ExtentScalar(builder, dim));
  return builder.AddBuffer(name, type.dtype, kind, std::move(extents));
}

void DefineElementStage(OperationBuffers& buffers) {
  BufferContext context(buffers, buffers.builder.AddStage());
  std::vector<Scalar> indices;
  for (const Dim& dim : buffers.operation.result()->shape()) {
    indices.push_back(context.SpatialAxis(dim));
  }
  const Scalar value =
      buffers.operation.record().definition.element(context, indices);
  context.Yield(value, 0, indices, tensor::Combiner::kNone,
                tensor::Update::kAssign);
}

}  // namespace

Scalar ExtentScalar(DispatchBuilder& builder, const Dim& dim) {
  return dim.Fold<Scalar>(
      [&](int64_t value) { return builder.Index(value); },
      [&](const std::string& symbol) { return builder.Parameter(symbol); },
      [](Dim::Operation operation, Scalar a, Scalar b) {
        switch (operation) {
          case Dim::Operation::kAdd:
            return a + b;
          case Dim::Operation::kMultiply:
            return a * b;
          case Dim::Operation::kFloorDivide:
            return FloorDivide(a, b);
          case Dim::Operation::kModulo:
            return Modulo(a, b);
          case Dim::Operation::kMinimum:
            return Minimum(a, b);
          case Dim::Operation::kMaximum:
            return Maximum(a, b);
        }
        return a;
      });
}

StatusOr<tensor::Dispatch> DispatchOf(const Operation& operation) {
  const Definition& definition = operation.record().definition;
  if (definition.element == nullptr && definition.stages == nullptr) {
    return UnimplementedError(
        DescribeOperation(operation) +
        ": expected an operator with a definition, found none");
  }
  DispatchBuilder builder(operation.name());
  OperationBuffers buffers{builder, operation, {}, {}};
  for (int i = 0; i < operation.operand_count(); ++i) {
    buffers.operands.push_back(AddBuffer(builder, "x" + std::to_string(i),
                                         operation.operand(i)->type(),
                                         BufferKind::kInput));
  }
  for (size_t i = 0; i < operation.results().size(); ++i) {
    buffers.results.push_back(AddBuffer(builder, "y" + std::to_string(i),
                                        operation.results()[i]->type(),
                                        BufferKind::kOutput));
  }
  if (definition.stages != nullptr) {
    BufferStagesContext context(buffers);
    definition.stages(context);
  } else {
    DefineElementStage(buffers);
  }
  return builder.Finish();
}

}  // namespace ember::graph

#include "compiler/graph/operators/operation_dispatch.h"

#include <deque>
#include <string>
#include <vector>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/stage_context.h"

namespace ember::graph {
namespace {

using tensor::BufferKind;
using tensor::DispatchBuilder;
using tensor::Scalar;
using tensor::StageBuilder;

// Numbers of the dispatch's buffers for the operation's operands and results.
struct OperationBuffers {
  DispatchBuilder& builder;
  const Operation& operation;
  std::vector<int> operands, results;
};

class BufferContext final : public BuilderStageContext {
 public:
  BufferContext(OperationBuffers& buffers, StageBuilder& stage)
      : BuilderStageContext(stage), buffers_(buffers) {}

  const Operation& operation() const override { return buffers_.operation; }
  Scalar Load(int operand, std::span<const Scalar> indices) override {
    return stage().Load(buffers_.operands[static_cast<size_t>(operand)],
                        indices);
  }
  Scalar Pad(int operand, std::span<const Scalar> indices,
             Scalar otherwise) override {
    return stage().Pad(buffers_.operands[static_cast<size_t>(operand)], indices,
                       otherwise);
  }
  Scalar Extent(const Dim& dim) override {
    return ExtentScalar(buffers_.builder, dim);
  }

 private:
  int ResultBuffer(int result) const override {
    return buffers_.results[static_cast<size_t>(result)];
  }

  OperationBuffers& buffers_;
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

int AddBuffer(DispatchBuilder& builder, const std::string& name,
              const TensorType& type, BufferKind kind) {
  std::vector<Scalar> extents;
  for (const Dim& dim : type.shape)
    extents.push_back(ExtentScalar(builder, dim));
  return builder.AddBuffer(name, type.dtype, kind, std::move(extents));
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
    BufferContext context(buffers, builder.AddStage());
    YieldElements(context);
  }
  return builder.Finish();
}

}  // namespace ember::graph

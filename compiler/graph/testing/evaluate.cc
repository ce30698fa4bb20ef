#include "compiler/graph/testing/evaluate.h"

#include <map>
#include <string>
#include <unordered_map>

#include "compiler/graph/builder/constant_folding.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/operation_dispatch.h"
#include "tensor/evaluator/evaluator.h"

namespace ember::graph {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

class GraphEvaluator {
 public:
  explicit GraphEvaluator(const Graph& graph) : graph_(graph) {}

  StatusOr<std::vector<TensorData>> Run(std::span<const TensorData> inputs) {
    EMBER_RETURN_IF_ERROR(BindInputs(inputs));
    for (const auto& operation : graph_.operations()) {
      EMBER_RETURN_IF_ERROR(
          RunOperation(*operation).WithContext(DescribeOperation(*operation)));
    }
    std::vector<TensorData> outputs;
    for (const Value* output : graph_.outputs())
      outputs.push_back(values_.at(output));
    return outputs;
  }

 private:
  Status BindInputs(std::span<const TensorData> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return InvalidArgumentError(
          "expected " + std::to_string(graph_.inputs().size()) +
          " inputs, found " + std::to_string(inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = *graph_.inputs()[i];
      const bool fits = input.dtype() == inputs[i].dtype &&
                        input.shape().size() == inputs[i].extents.size();
      if (!fits) return InputError(input, inputs[i]);
      for (size_t d = 0; d < input.shape().size(); ++d) {
        const Dim& dim = input.shape()[d];
        const auto symbols = dim.Symbols();
        if (symbols.size() == 1 && dim == Dim::Symbol(*symbols.begin())) {
          symbols_.emplace(*symbols.begin(), inputs[i].extents[d]);
        }
      }
      values_.emplace(&input, inputs[i]);
    }
    // The inputs' extents are compared with their shapes in a second loop,
    // because a dim may contain a symbol whose value a later input gives.
    for (size_t i = 0; i < inputs.size(); ++i) {
      EMBER_ASSIGN_OR_RETURN(const auto extents,
                             Extents(graph_.inputs()[i]->shape()));
      if (extents != inputs[i].extents)
        return InputError(*graph_.inputs()[i], inputs[i]);
    }
    return OkStatus();
  }

  static Status InputError(const Value& input, const TensorData& found) {
    const Shape shape(found.extents.begin(), found.extents.end());
    return InvalidArgumentError("input '" + input.name() + "': expected " +
                                ToString(input.type()) + ", found " +
                                ToString(TensorType{found.dtype, shape}));
  }

  StatusOr<std::vector<int64_t>> Extents(const Shape& shape) const {
    std::vector<int64_t> extents;
    for (const Dim& dim : shape) {
      EMBER_ASSIGN_OR_RETURN(const int64_t extent, dim.Evaluate(symbols_));
      if (extent < 0) {
        return InvalidArgumentError("shape " + ShapeToString(shape) +
                                    ": expected dims of at least 0, found " +
                                    std::to_string(extent));
      }
      extents.push_back(extent);
    }
    return extents;
  }

  StatusOr<TensorData> Allocate(const TensorType& type) const {
    EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> extents, Extents(type.shape));
    const Dim bytes = ElementCount(Shape(extents.begin(), extents.end())) *
                      Dim(DTypeByteSize(type.dtype));
    if (!bytes.is_constant() || bytes.constant() > kMaxBytes) {
      return ResourceExhaustedError("expected at most 1 GiB, found " +
                                    ToString(type));
    }
    const std::vector<uint8_t> zeros(static_cast<size_t>(bytes.constant()));
    return TensorData{type.dtype, std::move(extents),
                      ConstantData::Copy(zeros)};
  }

  Status RunOperation(const Operation& operation) {
    std::vector<void*> buffers;
    for (const Value* operand : operation.operands()) {
      buffers.push_back(
          const_cast<uint8_t*>(values_.at(operand).data.bytes.data()));
    }
    for (const auto& result : operation.results()) {
      EMBER_ASSIGN_OR_RETURN(TensorData data, Allocate(result->type()));
      if (const ConstantData* constant = ConstantDataOf(result.get()))
        data.data = *constant;
      buffers.push_back(const_cast<uint8_t*>(data.data.bytes.data()));
      values_.insert_or_assign(result.get(), std::move(data));
    }
    if (operation.name() == "constant") return OkStatus();
    EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch,
                           DispatchOf(operation));
    std::vector<int64_t> parameters;
    for (const std::string& name : dispatch.parameters) {
      const auto symbol = symbols_.find(name);
      if (symbol == symbols_.end()) {
        return InvalidArgumentError("expected an input dim '" + name +
                                    "', found none");
      }
      parameters.push_back(symbol->second);
    }
    return tensor::Evaluate(dispatch, parameters, buffers, {});
  }

  const Graph& graph_;
  std::map<std::string, int64_t> symbols_;
  std::unordered_map<const Value*, TensorData> values_;
};

}  // namespace

StatusOr<std::vector<TensorData>> Evaluate(const Graph& graph,
                                           std::span<const TensorData> inputs) {
  return GraphEvaluator(graph).Run(inputs);
}

}  // namespace ember::graph

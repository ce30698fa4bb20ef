// Imports Loop: its body becomes a region, or is unrolled if there are few
// iterations. Also builds the bodies of all other loops.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/region_values.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/sequence.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;
using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;

// Returns a tensor of one element as a graph value without dims, cast to
// `type`; null if the tensor is absent.
Value* ScalarOf(Tensor tensor, DType type) {
  if (!tensor) return nullptr;
  return Cast(Reshape(tensor, {}), type).value();
}

// Returns the scalar in the shape that the body declares for its input number
// `input`. Exporters declare the iteration number and the condition as scalars
// or as tensors of one element.
Tensor AsDeclared(Tensor scalar, const GraphProto& graph, int input) {
  if (input >= graph.input_size()) return scalar;
  const TypeProto& type = graph.input(input).type();
  const bool one = type.has_tensor_type() && type.tensor_type().has_shape() &&
                   type.tensor_type().shape().dim_size() == 1;
  return one ? Reshape(scalar, {Dim(1)}) : scalar;
}

// Returns the arguments of a Loop's body. The condition is always true in it,
// as the body only runs while the condition holds.
std::vector<Tensor> ArgumentsOf(const GraphProto& body, GraphBuilder& builder,
                                Value* iteration,
                                const std::vector<Tensor>& values) {
  std::vector<Tensor> arguments = {
      AsDeclared(Tensor(&builder, iteration), body, 0),
      AsDeclared(Tensor(&builder, builder.Scalar(1, DType::kBool)), body, 1)};
  arguments.insert(arguments.end(), values.begin(), values.end());
  return arguments;
}

// Returns the number of iterations, if it is known and small; else nullopt.
std::optional<int64_t> FewTrips(const GraphBuilder& builder,
                                const LoopRequest& request) {
  constexpr int64_t kFew = 4;
  if (request.limit == nullptr) return std::nullopt;
  const auto limit = builder.ConstantContents(request.limit);
  if (!limit || limit->front() < 1 || limit->front() > kFew)
    return std::nullopt;
  if (request.condition != nullptr) {
    const auto condition = builder.ConstantContents(request.condition);
    if (!condition || condition->front() == 0) return std::nullopt;
  }
  return static_cast<int64_t>(limit->front());
}

}  // namespace

LoopOutputs GraphImporter::ImportBody(const GraphProto& graph,
                                      const std::vector<Tensor>& arguments,
                                      const RegionValues& carried,
                                      bool conditional,
                                      const std::string& origin, Region& region,
                                      Scope& scope, std::vector<Tensor>& last) {
  Scope body = SubgraphScope(scope, origin, &region);
  StatusOr<std::vector<Tensor>> outputs =
      ImportSubgraph(graph, arguments, body);
  const std::string where = "node '" + origin + "': ";
  const size_t expected = carried.size() + (conditional ? 1 : 0);
  if (outputs.ok() && outputs->size() < expected) {
    outputs = InvalidArgumentError(
        where + "expected at least " + std::to_string(expected) +
        " outputs of the body, found " + std::to_string(outputs->size()));
  }
  if (outputs.ok() && !region.builder().status().ok())
    outputs = region.builder().status();
  for (size_t i = expected; outputs.ok() && i < outputs->size(); ++i) {
    if ((*outputs)[i].sequence() == nullptr) continue;
    outputs = UnimplementedError(
        where + "output " + std::to_string(i) +
        " of the body: expected a tensor to stack, found a sequence");
  }
  if (!outputs.ok()) {
    region.builder().Fail(outputs.status());
    return {};
  }
  LoopOutputs out;
  if (conditional) {
    out.proceed = ScalarOf(outputs->front(), DType::kBool);
    outputs->erase(outputs->begin());
  }
  last = *outputs;
  const auto split =
      outputs->begin() + static_cast<std::ptrdiff_t>(carried.size());
  out.carried = carried.Flatten({outputs->begin(), split});
  out.stacked = ValuesOf(std::span(split, outputs->end()));
  return out;
}

Status GraphImporter::ImportLoop(NodeContext& c, Scope& scope) {
  const GraphProto* graph = c.Subgraph("body");
  const std::vector<Tensor>& inputs = c.inputs();
  CheckOperands(c, 2, /*sequences=*/true);
  if (!c.ok()) return c.builder().status();
  LoopRequest request;
  request.conditional = true;
  request.limit = inputs.empty() ? nullptr : ScalarOf(inputs[0], DType::kI64);
  request.condition =
      inputs.size() < 2 ? nullptr : ScalarOf(inputs[1], DType::kBool);
  if (!c.ok()) return c.builder().status();
  const std::vector<Tensor> initial(
      inputs.begin() + std::min<std::ptrdiff_t>(2, std::ssize(inputs)),
      inputs.end());
  RegionValues carried(initial);
  if (const auto trips = FewTrips(c.builder(), request)) {
    EMBER_ASSIGN_OR_RETURN(const bool done,
                           UnrollLoop(c, *graph, initial, *trips, scope));
    if (done) return c.builder().status();
  }
  // A sequence that is empty before the loop does not show the rank of its
  // elements. The body is therefore imported into trial regions, until the
  // ranks of all sequences no longer change.
  for (bool changed = carried.has_sequences(); changed;) {
    Region trial(c.builder(), "trial");
    Value* iteration = trial.Input("iteration", {DType::kI64, {}});
    const std::vector<Tensor> values = carried.Inputs(trial, initial);
    Scope body = SubgraphScope(scope, c.origin(), &trial);
    EMBER_ASSIGN_OR_RETURN(
        std::vector<Tensor> outputs,
        ImportSubgraph(*graph,
                       ArgumentsOf(*graph, trial.builder(), iteration, values),
                       body));
    if (outputs.size() <= initial.size()) break;  // refused below
    outputs.erase(outputs.begin());
    changed = carried.Widen(outputs);
  }
  request.carried = carried.Flatten(initial);
  // The outputs of the body in the region. Their kinds (tensor, sequence,
  // optional) decide those of the loop's results.
  std::vector<Tensor> last;
  const auto body = [&](Region& region, const LoopInputs& in) {
    GraphBuilder& inside = region.builder();
    return ImportBody(*graph,
                      ArgumentsOf(*graph, inside, in.iteration,
                                  carried.Rebuild(inside, in.carried)),
                      carried, /*conditional=*/true, c.origin(), region, scope,
                      last);
  };
  c.builder().SetOrigin(c.origin());
  const std::vector<Value*> results = BuildLoop(c.builder(), request, body);
  if (!c.ok()) return c.builder().status();
  return SetOutputs(c, carried.LoopResults(c.builder(), results, last), scope);
}

// Unrolls a loop of a few iterations whose carried values change rank or dtype,
// which no region can express. Returns false if unrolling is not needed or not
// possible.
StatusOr<bool> GraphImporter::UnrollLoop(NodeContext& c,
                                         const GraphProto& graph,
                                         const std::vector<Tensor>& initial,
                                         int64_t trips, Scope& scope) {
  const auto arguments_of = [&](GraphBuilder& builder, int64_t iteration,
                                const std::vector<Tensor>& values) {
    return ArgumentsOf(
        graph, builder,
        builder.Scalar(static_cast<double>(iteration), DType::kI64), values);
  };
  {
    Region trial(c.builder(), "trial");
    std::vector<Tensor> values;
    for (const Tensor& value : initial)
      values.push_back(Captured(trial, value));
    Scope body = SubgraphScope(scope, c.origin(), &trial);
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<Tensor> outputs,
        ImportSubgraph(graph, arguments_of(trial.builder(), 0, values), body));
    bool changes = false;
    for (size_t i = 0; i < initial.size() && 1 + i < outputs.size(); ++i) {
      if (initial[i].sequence() != nullptr) return false;
      changes |= outputs[1 + i].rank() != initial[i].rank() ||
                 outputs[1 + i].dtype() != initial[i].dtype();
    }
    // A loop that stacks values (scan outputs) is not unrolled, because they
    // would need the same shape in each iteration.
    if (!changes || outputs.size() != 1 + initial.size()) return false;
  }
  std::vector<Tensor> values = initial;
  for (int64_t i = 0; i < trips; ++i) {
    Scope body = SubgraphScope(scope, c.origin(), nullptr);
    EMBER_ASSIGN_OR_RETURN(
        std::vector<Tensor> outputs,
        ImportSubgraph(graph, arguments_of(c.builder(), i, values), body));
    const auto proceed = c.builder().ConstantContents(outputs.front().value());
    if (!proceed || proceed->front() == 0) {
      c.FailUnsupported(
          "expected carried values of one rank and type, or a condition that "
          "is always true");
      return c.builder().status();
    }
    values.assign(outputs.begin() + 1, outputs.end());
  }
  EMBER_RETURN_IF_ERROR(SetOutputs(c, values, scope));
  return true;
}

}  // namespace ember::onnx

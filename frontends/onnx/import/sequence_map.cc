// Imports SequenceMap: a subgraph is applied to each element of sequences.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/region_values.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/sequence.h"

namespace ember::onnx {
namespace {

// True if every operand that is a sequence is a list of separate tensors, whose
// number and shapes are known when compiling.
bool AllKnown(const std::vector<Tensor>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Tensor& input) {
    return input.sequence() == nullptr || input.sequence()->elements;
  });
}

// Checks that all sequences have the same length. Other lengths fail the import
// if they are known when compiling, else the run.
void CheckLengths(NodeContext& c) {
  const std::vector<Tensor>& inputs = c.inputs();
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].sequence() == nullptr) continue;
    const std::string expected =
        "input " + std::to_string(i) + ": expected a sequence of the length ";
    const auto& first = inputs[0].sequence()->elements;
    const auto& other = inputs[i].sequence()->elements;
    if (!first || !other) {
      c.builder().Require(
          Equal(SequenceLength(inputs[0]), SequenceLength(inputs[i])).value(),
          expected + "of input 0");
    } else if (first->size() != other->size()) {
      c.FailInvalid(expected + std::to_string(first->size()) +
                    " of input 0, found " + std::to_string(other->size()));
    }
  }
}

}  // namespace

// If the sequences are lists of separate tensors, the body is imported once for
// each element. Otherwise the body becomes a loop that appends to its results.
Status GraphImporter::ImportSequenceMap(NodeContext& c, Scope& scope) {
  const GraphProto* graph = c.Subgraph("body");
  const std::vector<Tensor>& inputs = c.inputs();
  if (!c.Input(0) || c.Input(0).sequence() == nullptr)
    c.FailInvalid("input 0: expected a sequence, found none");
  CheckOperands(c, 0, /*sequences=*/true);
  if (c.ok()) CheckLengths(c);
  if (!c.ok()) return c.builder().status();
  const auto arguments_at =
      [&](NodeContext& at, const std::vector<Tensor>& values, Tensor position) {
        std::vector<Tensor> arguments;
        for (const Tensor& value : values) {
          arguments.push_back(value.sequence() != nullptr
                                  ? SequenceAt(at, value, position)
                                  : value);
        }
        return arguments;
      };
  if (AllKnown(inputs)) {
    std::vector<std::vector<Tensor>> results(
        static_cast<size_t>(graph->output_size()));
    const size_t count = inputs[0].sequence()->elements->size();
    for (size_t i = 0; i < count; ++i) {
      const Tensor position =
          Reshape(c.Integers64({static_cast<int64_t>(i)}), {});
      const std::vector<Tensor> arguments = arguments_at(c, inputs, position);
      if (!c.ok()) return c.builder().status();
      Scope body = SubgraphScope(scope, c.origin(), nullptr);
      EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                             ImportSubgraph(*graph, arguments, body));
      for (size_t o = 0; o < results.size(); ++o)
        results[o].push_back(outputs[o]);
    }
    if (count > 0) {
      std::vector<Tensor> sequences;
      for (std::vector<Tensor>& elements : results)
        sequences.push_back(SequenceOf(c.builder(), std::move(elements)));
      return SetOutputs(c, sequences, scope);
    }
  }
  std::vector<Tensor> pairs;
  for (const Tensor& input : inputs)
    pairs.push_back(input.sequence() != nullptr ? AsPair(input, 0) : input);
  const auto map_one = [&](graph::Region& region,
                           Tensor position) -> StatusOr<std::vector<Tensor>> {
    NodeContext inside = c.Inside(region.builder());
    std::vector<Tensor> values;
    for (const Tensor& pair : pairs) values.push_back(Captured(region, pair));
    const std::vector<Tensor> arguments =
        arguments_at(inside, values, position);
    EMBER_RETURN_IF_ERROR(region.builder().status());
    Scope body = SubgraphScope(scope, c.origin(), &region);
    return ImportSubgraph(*graph, arguments, body);
  };
  // The types of the results are needed before the loop is built. They are
  // those of a trial import of the body with one element.
  std::vector<Tensor> empty;
  {
    graph::Region trial(c.builder(), "trial");
    const Tensor position(&trial.builder(),
                          trial.Input("iteration", {DType::kI64, {}}));
    EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                           map_one(trial, position));
    for (const Tensor& output : outputs) {
      empty.push_back(EmptySequence(c.builder(), output.dtype(),
                                    output.carried_type(), output.rank()));
    }
  }
  const RegionValues carried(empty);
  const graph::LoopRequest request{.carried = carried.Flatten(empty),
                                   .scanned = {},
                                   .trip = pairs[0].sequence()->dims.dim(0)};
  const std::vector<graph::Value*> results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region, const graph::LoopInputs& in) {
        graph::LoopOutputs out;
        const std::vector<Tensor> lists =
            carried.Rebuild(region.builder(), in.carried);
        const StatusOr<std::vector<Tensor>> outputs =
            map_one(region, Tensor(&region.builder(), in.iteration));
        if (!outputs.ok()) {
          region.builder().Fail(outputs.status());
          return out;
        }
        NodeContext inside = c.Inside(region.builder());
        std::vector<Tensor> longer;
        for (size_t i = 0; i < outputs->size(); ++i) {
          longer.push_back(
              SequenceInsert(inside, lists[i], (*outputs)[i], Tensor()));
        }
        if (!inside.ok()) return out;
        out.carried = carried.Flatten(longer);
        return out;
      });
  if (!c.ok()) return c.builder().status();
  return SetOutputs(c, carried.Rebuild(c.builder(), results), scope);
}

}  // namespace ember::onnx

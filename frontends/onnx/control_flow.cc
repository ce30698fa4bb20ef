// If, Loop and Scan: subgraphs become regions of the graph, with values of the
// graph around them captured.
#include "compiler/graph/control_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/graph_importer.h"
#include "frontends/onnx/node_context.h"
#include "frontends/onnx/region_values.h"
#include "frontends/onnx/sequence.h"

namespace ember::onnx {
namespace {

using graph::GraphBuilder;
using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;

std::string Where(const std::string& origin) { return "node '" + origin + "'"; }

Status WrongType(const std::string& origin, const AttributeProto& attribute,
                 AttributeProto::AttributeType expected) {
  return InvalidArgumentError(
      Where(origin) + ": attribute '" + attribute.name() + "': expected type " +
      AttributeProto::AttributeType_Name(expected) + ", found " +
      AttributeProto::AttributeType_Name(attribute.type()));
}

StatusOr<const GraphProto*> Subgraph(const NodeProto& node,
                                     const std::string& origin,
                                     std::string_view name) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.has_g()) return &attribute.g();
    return WrongType(origin, attribute, AttributeProto::GRAPH);
  }
  return InvalidArgumentError(Where(origin) + ": attribute '" +
                              std::string(name) + "' is missing");
}

StatusOr<int64_t> IntegerAttribute(const NodeProto& node,
                                   const std::string& origin,
                                   std::string_view name, int64_t otherwise) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.type() == AttributeProto::INT ||
        (attribute.type() == AttributeProto::UNDEFINED && attribute.has_i()))
      return attribute.i();
    return WrongType(origin, attribute, AttributeProto::INT);
  }
  return otherwise;
}

// Per operand; an attribute that is absent means 0 for each.
StatusOr<std::vector<int64_t>> PerOperand(const NodeProto& node,
                                          const std::string& origin,
                                          std::string_view name, size_t count) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (static_cast<size_t>(attribute.ints_size()) != count) {
      return InvalidArgumentError(Where(origin) + ": attribute '" +
                                  std::string(name) + "': expected " +
                                  std::to_string(count) + " values, found " +
                                  std::to_string(attribute.ints_size()));
    }
    return std::vector<int64_t>(attribute.ints().begin(),
                                attribute.ints().end());
  }
  return std::vector<int64_t>(count, 0);
}

// A tensor of one element as a scalar of the type; null if absent.
Value* ScalarOf(Tensor tensor, DType type) {
  if (!tensor) return nullptr;
  return Cast(Reshape(tensor, {}), type).value();
}

// Exporters write the iteration and the condition as scalars or as one element.
Tensor AsDeclared(Tensor scalar, const GraphProto& graph, int input) {
  if (input >= graph.input_size()) return scalar;
  const TypeProto& type = graph.input(input).type();
  const bool one = type.has_tensor_type() && type.tensor_type().has_shape() &&
                   type.tensor_type().shape().dim_size() == 1;
  return one ? Reshape(scalar, {Dim(1)}) : scalar;
}

// As PerOperand, of 0 (forward) and 1 (reverse).
StatusOr<std::vector<int64_t>> Directions(const NodeProto& node,
                                          const std::string& origin,
                                          std::string_view name, size_t count) {
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> directions,
                         PerOperand(node, origin, name, count));
  for (const int64_t direction : directions) {
    if (direction == 0 || direction == 1) continue;
    return InvalidArgumentError(
        Where(origin) + ": attribute '" + std::string(name) +
        "': expected 0 or 1, found " + std::to_string(direction));
  }
  return directions;
}

// The last slice first.
Tensor Reversed(Tensor x, int axis) {
  return SliceAxis(x, axis, x.dim(axis) - Dim(1), x.dim(axis), -1);
}

// `axis` becomes the first dim, or the first one `axis`.
Tensor AxisToFront(Tensor x, int64_t axis) {
  std::vector<int64_t> permutation = {axis};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != axis) permutation.push_back(i);
  }
  return Transpose(x, std::move(permutation));
}
Tensor AxisFromFront(Tensor x, int64_t axis) {
  std::vector<int64_t> permutation;
  for (int64_t i = 1; i < x.rank(); ++i) permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, 0);
  return Transpose(x, std::move(permutation));
}

StatusOr<int64_t> NormalizedAxis(const std::string& origin, int64_t axis,
                                 int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return InvalidArgumentError(
      Where(origin) + ": axis: expected a value in [" + std::to_string(-rank) +
      ", " + std::to_string(rank - 1) + "], found " + std::to_string(axis));
}

std::vector<Value*> ValuesOf(const std::vector<Tensor>& tensors) {
  std::vector<Value*> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

std::vector<Tensor> TensorsOf(GraphBuilder& builder,
                              const std::vector<Value*>& values) {
  std::vector<Tensor> tensors;
  for (Value* value : values) tensors.emplace_back(&builder, value);
  return tensors;
}

// Results of a loop: carried values in their kinds, or in the body's where that
// is the plain one, and the stacked ones.
std::vector<Tensor> LoopResults(GraphBuilder& builder,
                                const RegionValues& carried,
                                const std::vector<Value*>& results,
                                const std::vector<Tensor>& last) {
  std::vector<Tensor> values = carried.Rebuild(builder, results);
  for (size_t i = 0; i < values.size(); ++i) {
    const SequenceValue* inside = last[i].sequence();
    const SequenceValue* outside = values[i].sequence();
    if (inside == nullptr || outside == nullptr ||
        inside->kind != SequenceKind::kSequence ||
        outside->kind != SequenceKind::kOptionalSequence)
      continue;
    SequenceValue plain = *outside;
    plain.kind = SequenceKind::kSequence;
    values[i] = MakeSequence(builder, std::move(plain));
  }
  for (size_t i = static_cast<size_t>(carried.PartCount()); i < results.size();
       ++i) {
    values.push_back(
        Tensor(&builder, results[i]).Marked(last[values.size()].narrow_type()));
  }
  return values;
}

// The number of iterations, if it is known and small.
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

Status CheckPresent(const std::vector<Tensor>& inputs, size_t first,
                    const std::string& origin) {
  for (size_t i = first; i < inputs.size(); ++i) {
    if (inputs[i]) continue;
    return InvalidArgumentError(Where(origin) + ": input " + std::to_string(i) +
                                " is missing");
  }
  return OkStatus();
}

// As CheckPresent, for operands that may not be sequences.
Status CheckTensors(const std::vector<Tensor>& inputs, size_t first,
                    const std::string& origin) {
  EMBER_RETURN_IF_ERROR(CheckPresent(inputs, first, origin));
  for (size_t i = first; i < inputs.size(); ++i) {
    if (inputs[i].sequence() == nullptr) continue;
    return InvalidArgumentError(Where(origin) + ": input " + std::to_string(i) +
                                ": expected a tensor, found a sequence");
  }
  return OkStatus();
}

}  // namespace

GraphImporter::Scope GraphImporter::SubgraphScope(Scope& scope,
                                                  const std::string& origin,
                                                  Region* region) const {
  Scope body;
  body.opsets = scope.opsets;
  body.parent = &scope;
  body.region = region;
  body.builder = region != nullptr ? &region->builder() : scope.builder;
  body.prefix = origin + "/";
  body.is_function = scope.is_function;
  body.bindings = scope.bindings;
  body.depth = scope.depth + 1;
  return body;
}

StatusOr<std::vector<Tensor>> GraphImporter::ImportSubgraph(
    const GraphProto& graph, const std::vector<Tensor>& inputs, Scope& scope) {
  if (scope.depth > kMaximumCallDepth) {
    return InvalidArgumentError("'" + scope.prefix + "': expected at most " +
                                std::to_string(kMaximumCallDepth) +
                                " subgraphs in each other, found more");
  }
  if (static_cast<size_t>(graph.input_size()) != inputs.size()) {
    return InvalidArgumentError(
        "'" + scope.prefix + "': expected " + std::to_string(inputs.size()) +
        " inputs of the subgraph, found " + std::to_string(graph.input_size()));
  }
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string& name = graph.input(i).name();
    if (!scope.values.emplace(name, inputs[static_cast<size_t>(i)]).second) {
      return InvalidArgumentError("'" + scope.prefix + "': input '" + name +
                                  "' of the subgraph occurs twice");
    }
  }
  scope.stated = {&graph.value_info(), &graph.output()};
  EMBER_RETURN_IF_ERROR(AddInitializers(graph, scope));
  EMBER_RETURN_IF_ERROR(ImportNodes(graph.node(), scope));
  std::vector<Tensor> outputs;
  for (const ValueInfoProto& output : graph.output()) {
    if (!IsKnown(scope, output.name())) {
      return InvalidArgumentError("'" + scope.prefix + "': output '" +
                                  output.name() +
                                  "' is not produced by any node");
    }
    EMBER_ASSIGN_OR_RETURN(Tensor value, Lookup(scope, output.name()));
    outputs.push_back(value);
  }
  return outputs;
}

Status GraphImporter::SetOutputs(const NodeProto& node,
                                 const std::string& origin,
                                 const std::vector<Tensor>& values,
                                 Scope& scope) {
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  if (values.size() < static_cast<size_t>(node.output_size())) {
    return InvalidArgumentError(
        Where(origin) + ": expected " + std::to_string(node.output_size()) +
        " outputs of the subgraph, found " + std::to_string(values.size()));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const Tensor value = values[static_cast<size_t>(i)];
    if (value.value() != nullptr && value.value()->name().empty())
      value.value()->set_name(node.output(i));
    scope.values[node.output(i)] = value;
  }
  return OkStatus();
}

StatusOr<bool> GraphImporter::ImportControlFlow(
    const NodeProto& node, const std::string& origin,
    const std::vector<Tensor>& inputs, Scope& scope) {
  if (!CanonicalDomain(node.domain()).empty()) return false;
  const std::string& name = node.op_type();
  if (name == "If" && !inputs.empty() && inputs[0]) {
    EMBER_ASSIGN_OR_RETURN(const GraphProto* then,
                           Subgraph(node, origin, "then_branch"));
    EMBER_ASSIGN_OR_RETURN(const GraphProto* otherwise,
                           Subgraph(node, origin, "else_branch"));
    EMBER_RETURN_IF_ERROR(
        ImportIf(node, origin, inputs[0], *then, *otherwise, scope));
    return true;
  }
  if (name == "Loop") {
    EMBER_RETURN_IF_ERROR(ImportLoop(node, origin, inputs, scope));
    return true;
  }
  if (name == "SequenceMap") {
    EMBER_RETURN_IF_ERROR(ImportSequenceMap(node, origin, inputs, scope));
    return true;
  }
  if (name == "Scan") {
    const bool batched = scope.opsets->VersionOf("") < 9;
    EMBER_RETURN_IF_ERROR(batched
                              ? ImportBatchedScan(node, origin, inputs, scope)
                              : ImportScan(node, origin, inputs, scope));
    return true;
  }
  return false;
}

LoopOutputs GraphImporter::ImportBody(const GraphProto& graph,
                                      const std::vector<Tensor>& arguments,
                                      const RegionValues& carried,
                                      size_t carried_count, bool conditional,
                                      const std::string& origin, Region& region,
                                      Scope& scope, std::vector<Tensor>& last) {
  Scope body = SubgraphScope(scope, origin, &region);
  StatusOr<std::vector<Tensor>> outputs =
      ImportSubgraph(graph, arguments, body);
  const size_t expected = carried_count + (conditional ? 1 : 0);
  if (outputs.ok() && outputs->size() < expected) {
    outputs = InvalidArgumentError(
        Where(origin) + ": expected at least " + std::to_string(expected) +
        " outputs of the body, found " + std::to_string(outputs->size()));
  }
  if (outputs.ok() && !region.builder().status().ok())
    outputs = region.builder().status();
  for (size_t i = expected; outputs.ok() && i < outputs->size(); ++i) {
    if ((*outputs)[i].sequence() == nullptr) continue;
    outputs = UnimplementedError(
        Where(origin) + ": output " + std::to_string(i) +
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
      outputs->begin() + static_cast<std::ptrdiff_t>(carried_count);
  out.carried = carried.Flatten({outputs->begin(), split});
  out.stacked = ValuesOf({split, outputs->end()});
  return out;
}

Status GraphImporter::ImportLoop(const NodeProto& node,
                                 const std::string& origin,
                                 const std::vector<Tensor>& inputs,
                                 Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const GraphProto* graph,
                         Subgraph(node, origin, "body"));
  EMBER_RETURN_IF_ERROR(CheckPresent(inputs, 2, origin));
  LoopRequest request;
  request.conditional = true;
  request.limit = inputs.empty() ? nullptr : ScalarOf(inputs[0], DType::kI64);
  request.condition =
      inputs.size() < 2 ? nullptr : ScalarOf(inputs[1], DType::kBool);
  const std::vector<Tensor> initial(
      inputs.begin() + std::min<std::ptrdiff_t>(2, std::ssize(inputs)),
      inputs.end());
  RegionValues carried(initial);
  std::vector<int32_t> marks;
  const auto arguments_of = [&](GraphBuilder& inside, Value* iteration,
                                const std::vector<Tensor>& values) {
    std::vector<Tensor> arguments = {
        AsDeclared(Tensor(&inside, iteration), *graph, 0),
        // The body only runs while the condition holds.
        AsDeclared(Tensor(&inside, inside.Scalar(1, DType::kBool)), *graph, 1)};
    arguments.insert(arguments.end(), values.begin(), values.end());
    return arguments;
  };
  if (const auto trips = FewTrips(*scope.builder, request)) {
    EMBER_ASSIGN_OR_RETURN(const bool done, UnrollLoop(node, *graph, origin,
                                                       initial, *trips, scope));
    if (done) return scope.builder->status();
  }
  // Ranks of sequences that begin empty show after an iteration.
  for (bool changed = carried.has_sequences(); changed;) {
    Region trial(*scope.builder, "trial");
    Value* iteration = trial.Input("iteration", {DType::kI64, {}});
    const std::vector<Tensor> values = carried.Inputs(trial, initial);
    Scope body = SubgraphScope(scope, origin, &trial);
    EMBER_ASSIGN_OR_RETURN(
        std::vector<Tensor> outputs,
        ImportSubgraph(*graph, arguments_of(trial.builder(), iteration, values),
                       body));
    if (outputs.size() <= initial.size()) break;  // refused below
    outputs.erase(outputs.begin());
    changed = carried.Widen(outputs);
  }
  request.carried = carried.Flatten(initial);
  std::vector<Tensor> last;  // of the body's outputs, for their kinds
  const auto body = [&](Region& region, const LoopInputs& in) {
    GraphBuilder& inside = region.builder();
    return ImportBody(
        *graph,
        arguments_of(inside, in.iteration, carried.Rebuild(inside, in.carried)),
        carried, initial.size(), /*conditional=*/true, origin, region, scope,
        last);
  };
  scope.builder->SetOrigin(origin);
  const std::vector<Value*> results = BuildLoop(*scope.builder, request, body);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  return SetOutputs(node, origin,
                    LoopResults(*scope.builder, carried, results, last), scope);
}

// A loop of a few iterations whose carried values change rank or dtype has no
// region; it is written out. False: it need not be, or cannot.
StatusOr<bool> GraphImporter::UnrollLoop(const NodeProto& node,
                                         const GraphProto& graph,
                                         const std::string& origin,
                                         const std::vector<Tensor>& initial,
                                         int64_t trips, Scope& scope) {
  const auto arguments_of = [&](GraphBuilder& builder, int64_t iteration,
                                const std::vector<Tensor>& values) {
    std::vector<Tensor> arguments = {
        AsDeclared(
            Tensor(&builder,
                   builder.Scalar(static_cast<double>(iteration), DType::kI64)),
            graph, 0),
        AsDeclared(Tensor(&builder, builder.Scalar(1, DType::kBool)), graph,
                   1)};
    arguments.insert(arguments.end(), values.begin(), values.end());
    return arguments;
  };
  {
    Region trial(*scope.builder, "trial");
    std::vector<Tensor> values;
    for (const Tensor& value : initial)
      values.push_back(Captured(trial, value));
    Scope body = SubgraphScope(scope, origin, &trial);
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<Tensor> outputs,
        ImportSubgraph(graph, arguments_of(trial.builder(), 0, values), body));
    bool changes = false;
    for (size_t i = 0; i < initial.size() && 1 + i < outputs.size(); ++i) {
      if (initial[i].sequence() != nullptr) return false;
      changes |= outputs[1 + i].rank() != initial[i].rank() ||
                 outputs[1 + i].dtype() != initial[i].dtype();
    }
    // Stacked values would need the iterations' shapes to agree.
    if (!changes || outputs.size() != 1 + initial.size()) return false;
  }
  std::vector<Tensor> values = initial;
  for (int64_t i = 0; i < trips; ++i) {
    Scope body = SubgraphScope(scope, origin, nullptr);
    EMBER_ASSIGN_OR_RETURN(
        std::vector<Tensor> outputs,
        ImportSubgraph(graph, arguments_of(*scope.builder, i, values), body));
    const auto proceed =
        scope.builder->ConstantContents(outputs.front().value());
    if (!proceed || proceed->front() == 0) {
      return UnimplementedError(Where(origin) +
                                ": expected carried values of one rank and "
                                "type, or a condition that is always true");
    }
    values.assign(outputs.begin() + 1, outputs.end());
  }
  EMBER_RETURN_IF_ERROR(SetOutputs(node, origin, values, scope));
  return true;
}

Status GraphImporter::ImportScan(const NodeProto& node,
                                 const std::string& origin,
                                 const std::vector<Tensor>& inputs,
                                 Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const GraphProto* graph,
                         Subgraph(node, origin, "body"));
  EMBER_RETURN_IF_ERROR(CheckTensors(inputs, 0, origin));
  EMBER_ASSIGN_OR_RETURN(const int64_t count,
                         IntegerAttribute(node, origin, "num_scan_inputs", 0));
  if (count < 1 || count > std::ssize(inputs)) {
    return InvalidArgumentError(
        Where(origin) +
        ": num_scan_inputs: expected 1 to the number of inputs, found " +
        std::to_string(count));
  }
  const auto scanned_count = static_cast<size_t>(count);
  const size_t state_count = inputs.size() - scanned_count;
  const auto split_at = static_cast<std::ptrdiff_t>(state_count);
  const size_t stacked_count =
      static_cast<size_t>(graph->output_size()) -
      std::min(state_count, static_cast<size_t>(graph->output_size()));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<int64_t> input_axes,
      PerOperand(node, origin, "scan_input_axes", scanned_count));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<int64_t> input_directions,
      Directions(node, origin, "scan_input_directions", scanned_count));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<int64_t> output_axes,
      PerOperand(node, origin, "scan_output_axes", stacked_count));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<int64_t> output_directions,
      Directions(node, origin, "scan_output_directions", stacked_count));

  scope.builder->SetOrigin(origin);
  LoopRequest request;
  std::vector<Tensor> scanned;
  for (size_t i = 0; i < state_count; ++i)
    request.carried.push_back(inputs[i].value());
  for (size_t i = 0; i < scanned_count; ++i) {
    Tensor x = inputs[state_count + i];
    EMBER_ASSIGN_OR_RETURN(const int64_t axis,
                           NormalizedAxis(origin, input_axes[i], x.rank()));
    const int32_t mark = x.narrow_type();
    x = AxisToFront(x, axis);
    if (input_directions[i] != 0) x = Reversed(x, 0);
    // Sequences of one model must be equally long: taken to be.
    if (i > 0 && x.dim(0) != scanned[0].dim(0)) {
      Shape shape = x.shape();
      shape[0] = scanned[0].dim(0);
      x = Apply("assume", {x}, {{"shape", shape}});
    }
    EMBER_RETURN_IF_ERROR(scope.builder->status());
    scanned.push_back(x.Marked(mark));
  }
  request.scanned = ValuesOf(scanned);
  request.trip = scanned[0].dim(0);
  const RegionValues carried({inputs.begin(), inputs.begin() + split_at});
  std::vector<Tensor> last;
  const auto body = [&](Region& region, const LoopInputs& in) {
    GraphBuilder& inside = region.builder();
    std::vector<Tensor> arguments = carried.Rebuild(inside, in.carried);
    for (size_t i = 0; i < scanned_count; ++i) {
      arguments.push_back(
          Tensor(&inside, in.scanned[i]).Marked(scanned[i].narrow_type()));
    }
    return ImportBody(*graph, arguments, carried, state_count,
                      /*conditional=*/false, origin, region, scope, last);
  };
  const std::vector<Value*> results = BuildLoop(*scope.builder, request, body);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  std::vector<Tensor> outputs =
      LoopResults(*scope.builder, carried, results, last);
  for (size_t i = 0; i < stacked_count; ++i) {
    Tensor& output = outputs[state_count + i];
    if (output_directions[i] != 0) output = Reversed(output, 0);
    EMBER_ASSIGN_OR_RETURN(
        const int64_t axis,
        NormalizedAxis(origin, output_axes[i], output.rank()));
    output =
        AxisFromFront(output, axis).Marked(last[state_count + i].narrow_type());
  }
  return SetOutputs(node, origin, outputs, scope);
}

// Opset 8: every operand has a batch dim in front, and each of the batch is
// scanned by itself: a loop over a loop.
Status GraphImporter::ImportBatchedScan(const NodeProto& node,
                                        const std::string& origin,
                                        const std::vector<Tensor>& inputs,
                                        Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const GraphProto* graph,
                         Subgraph(node, origin, "body"));
  if (inputs.empty() || inputs[0]) {
    return UnimplementedError(
        Where(origin) +
        ": sequence_lens (input 0) is not supported in Scan before opset 9");
  }
  EMBER_RETURN_IF_ERROR(CheckTensors(inputs, 1, origin));
  EMBER_ASSIGN_OR_RETURN(const int64_t count,
                         IntegerAttribute(node, origin, "num_scan_inputs", 0));
  if (count < 1 || count > std::ssize(inputs) - 1) {
    return InvalidArgumentError(
        Where(origin) +
        ": num_scan_inputs: expected 1 to the number of inputs, found " +
        std::to_string(count));
  }
  const auto scanned_count = static_cast<size_t>(count);
  const size_t state_count = inputs.size() - 1 - scanned_count;
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> directions,
                         Directions(node, origin, "directions", scanned_count));
  scope.builder->SetOrigin(origin);
  LoopRequest batch;
  for (size_t i = 0; i < state_count + scanned_count; ++i) {
    Tensor x = inputs[1 + i];
    const int least = i < state_count ? 1 : 2;
    if (x.rank() < least) {
      return InvalidArgumentError(Where(origin) + ": input " +
                                  std::to_string(1 + i) + ": expected rank " +
                                  std::to_string(least) + " or more, found " +
                                  graph::ShapeToString(x.shape()));
    }
    if (i >= state_count && directions[i - state_count] != 0)
      x = Reversed(x, 1);
    batch.scanned.push_back(x.value());
  }
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  batch.trip = batch.scanned[0]->shape()[0];
  std::vector<Tensor> last;
  const auto one = [&](Region& outer, const LoopInputs& example) {
    LoopRequest time;
    const auto split =
        example.scanned.begin() + static_cast<std::ptrdiff_t>(state_count);
    time.carried.assign(example.scanned.begin(), split);
    time.scanned.assign(split, example.scanned.end());
    time.trip = time.scanned[0]->shape()[0];
    Scope outer_scope = SubgraphScope(scope, origin, &outer);
    const auto step = [&](Region& region, const LoopInputs& in) {
      GraphBuilder& inside = region.builder();
      std::vector<Tensor> arguments = TensorsOf(inside, in.carried);
      for (Value* slice : in.scanned) arguments.emplace_back(&inside, slice);
      return ImportBody(*graph, arguments,
                        RegionValues(TensorsOf(inside, in.carried)),
                        state_count, /*conditional=*/false, origin, region,
                        outer_scope, last);
    };
    LoopOutputs out;
    out.stacked = BuildLoop(outer.builder(), time, step);
    return out;
  };
  const std::vector<Value*> results = BuildLoop(*scope.builder, batch, one);
  return SetOutputs(node, origin, TensorsOf(*scope.builder, results), scope);
}

}  // namespace ember::onnx

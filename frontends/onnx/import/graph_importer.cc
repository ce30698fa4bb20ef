#include "frontends/onnx/import/graph_importer.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "frontends/onnx/import/graph_inputs.h"
#include "frontends/onnx/node/carried_types.h"
#include "frontends/onnx/node/context.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "frontends/onnx/registry/attribute_names.h"
#include "frontends/onnx/registry/operator_table.h"

namespace ember::onnx {
namespace {

constexpr int64_t kMaxNodes = 2'000'000;
// Largest number of bytes of a value's name. Names are only for people to read.
// Without a limit they would take much memory, as a function's nodes are
// imported again at each call.
constexpr size_t kLongestName = 256;

// Returns a copy of the node in which each attribute that refers to an
// attribute of the function call is replaced by the value that the call gives,
// or left out if the call gives none.
std::shared_ptr<const NodeProto> BindAttributes(
    const NodeProto& node,
    const std::map<std::string, const AttributeProto*>& bindings) {
  auto bound = std::make_shared<NodeProto>(node);
  bound->clear_attribute();
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *bound->add_attribute() = attribute;
      continue;
    }
    auto binding = bindings.find(attribute.ref_attr_name());
    if (binding == bindings.end()) continue;  // optional, not given
    AttributeProto* copy = bound->add_attribute();
    *copy = *binding->second;
    copy->set_name(attribute.name());
  }
  return bound;
}

bool HasReferences(const NodeProto& node) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (!attribute.ref_attr_name().empty()) return true;
  }
  return false;
}

Status CheckNoRepetition(const NodeProto& node, const std::string& origin) {
  if (node.attribute_size() < 2) return OkStatus();
  std::set<std::string_view> names;
  for (const AttributeProto& attribute : node.attribute()) {
    if (names.insert(attribute.name()).second) continue;
    return InvalidArgumentError("node '" + origin + "': attribute '" +
                                attribute.name() + "' occurs twice");
  }
  return OkStatus();
}

Status CheckInputCount(const NodeProto& node, const OperatorRow& row,
                       const std::vector<Tensor>& inputs) {
  const int count = static_cast<int>(inputs.size());
  if (row.maximum_inputs != kVariadic && count > row.maximum_inputs) {
    return InvalidArgumentError("expected at most " +
                                std::to_string(row.maximum_inputs) +
                                " inputs, found " + std::to_string(count));
  }
  for (int i = 0; i < row.minimum_inputs; ++i) {
    if (i < count && inputs[i]) continue;
    return InvalidArgumentError(
        "expected " + std::to_string(row.minimum_inputs) + " inputs, input " +
        std::to_string(i) + " is missing");
  }
  return OkStatus();
}

// Returns the logical type that the signature of a module gives the keys of a
// map: "map_keys" for integers, "string" for strings.
std::string KeysTypeName(int32_t carried_type) {
  return carried_type == 0 ? "map_keys" : LogicalTypeName(carried_type);
}

Status CheckNotRefused(const OperatorRow& row, const Tensor& input) {
  if (!input || input.sequence() == nullptr) return OkStatus();
  const bool map = IsMap(input);
  if (row.sequences == (map ? Sequences::kMaps : Sequences::kTaken))
    return OkStatus();
  return InvalidArgumentError(
      std::string("expected ") +
      (row.sequences == Sequences::kMaps    ? "maps"
       : row.sequences == Sequences::kTaken ? "tensors or sequences of tensors"
                                            : "tensors") +
      " as operands, found a " + (map ? "map" : "sequence"));
}

// True if the operator accepts an ONNX type without a dtype ("carried type",
// such as INT4 or STRING) as the type of operand `index`.
bool Takes(const CarriedOperands& carried, int index, int32_t carried_type) {
  if (carried_type == 0) return true;
  switch (carried.rule) {
    case CarriedTypes::kRefused:
      return false;
    case CarriedTypes::kNumbers:
      return carried_type != TensorProto::STRING;
    case CarriedTypes::kStrings:
      return carried_type == TensorProto::STRING;
    case CarriedTypes::kMoved:
      return carried.Moves(index);
    case CarriedTypes::kHandled:
      return true;
  }
  return false;
}

// Checks that the operator accepts its operands' carried types (ONNX types
// without a dtype). Returns the carried type of the results, if the operator
// moves its operands' elements; else 0.
StatusOr<int32_t> CheckCarriedTypes(const OperatorRow& row,
                                    const std::vector<Tensor>& inputs) {
  std::vector<Tensor> moved;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const Tensor& input = inputs[i];
    if (!input) continue;
    if (!Takes(row.carried, i, input.carried_type())) {
      return UnimplementedError("input " + std::to_string(i) +
                                ": operands of type " +
                                OnnxTypeName(input.carried_type()) +
                                (row.carried.rule == CarriedTypes::kMoved
                                     ? " are not taken in this place"
                                     : " are not supported by this operator"));
    }
    if (row.carried.Moves(i)) moved.push_back(input);
  }
  EMBER_RETURN_IF_ERROR(CheckSameCarriedType(moved));
  return moved.empty() ? 0 : moved.front().carried_type();
}

}  // namespace

GraphImporter::GraphImporter(std::shared_ptr<const ModelProto> model,
                             ExternalFiles& files, const ImportOptions& options,
                             frontends::ImportSteps& steps,
                             BranchChoices& choices)
    : options_(options),
      steps_(steps),
      choices_(choices),
      model_(std::move(model)),
      index_(*model_),
      files_(files),
      builder_(
          ToIdentifier(model_->graph().name().empty() ? "main"
                                                      : model_->graph().name()),
          options.operation_limit) {}

StatusOr<graph::Graph> GraphImporter::Import() {
  const GraphProto& graph = model_->graph();
  // The expected number of nodes counts only the main graph here. It grows when
  // functions are inlined and when subgraphs are imported.
  steps_.StartOver();
  steps_.Expect(static_cast<size_t>(graph.node_size()));
  Scope scope;
  scope.opsets = &index_.opsets();
  scope.builder = &builder_;
  scope.stated = {&graph.value_info(), &graph.output()};
  EMBER_RETURN_IF_ERROR(AddInitializers(graph, scope));
  EMBER_RETURN_IF_ERROR(AddInputs(scope));
  if (graph.output_size() == 0)
    return InvalidArgumentError("the graph has no outputs");
  for (const ValueInfoProto& output : graph.output())
    EMBER_RETURN_IF_ERROR(CheckName("output", output.name()));
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<Tensor> outputs,
      variants_.empty() ? ImportOutputs(graph, scope) : ImportVariants(scope));
  for (int i = 0; i < graph.output_size(); ++i) {
    const ValueInfoProto& output = graph.output(i);
    const Tensor& value = outputs[static_cast<size_t>(i)];
    if (choices_.open() && !FitsType(output.type(), value)) {
      return InvalidArgumentError("output '" + output.name() +
                                  "': expected what the model states, found " +
                                  graph::ShapeToString(value.shape()));
    }
    AddOutput(output.name(), value);
  }
  return builder_.Finish();
}

StatusOr<std::vector<Tensor>> GraphImporter::ImportOutputs(
    const GraphProto& graph, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int> order,
                         Order(graph.node(), scope));
  return ImportFrom(graph, order, 0, scope);
}

StatusOr<std::vector<Tensor>> GraphImporter::ImportFrom(
    const GraphProto& graph, const std::vector<int>& order, size_t first,
    Scope& scope) {
  for (size_t i = first; i < order.size(); ++i) {
    Status status = ImportNode(graph.node(order[i]), order[i], scope);
    if (split_) {
      const Split split = *std::move(split_);
      split_.reset();
      StatusOr<std::vector<Tensor>> outputs =
          ImportBothWays(graph, order, i, split, scope);
      if (!outputs.ok() || !outputs->empty()) return outputs;
      if ((split_ = SplitAround(split, scope))) {
        return UnimplementedError("'" + split.origin +
                                  "' decides the kinds of a branch's outputs");
      }
      not_split_.insert(split.origin);
      status = ImportNode(graph.node(order[i]), order[i], scope);
    }
    EMBER_RETURN_IF_ERROR(status);
  }
  std::vector<Tensor> outputs;
  for (const ValueInfoProto& output : graph.output()) {
    if (!IsKnown(scope, output.name())) {
      return InvalidArgumentError(
          (scope.prefix.empty() ? "" : "'" + scope.prefix + "': ") +
          "output '" + output.name() +
          "' is not produced by any node, input or initializer");
    }
    EMBER_ASSIGN_OR_RETURN(const Tensor value, Lookup(scope, output.name()));
    outputs.push_back(value);
  }
  return outputs;
}

void GraphImporter::AddOutput(const std::string& name, const Tensor& value) {
  const std::string type = LogicalTypeName(value.carried_type());
  if (value.sequence() == nullptr)
    return builder_.Output(name, value.value(), type);
  const SequenceKind kind = value.sequence()->kind;
  if (IsMap(value)) {
    const SequenceValue& map = *value.sequence();
    builder_.Output(name, map.data.value(), LogicalTypeName(map.carried_type));
    return builder_.Output(name + ".keys", map.dims.value(),
                           KeysTypeName(map.dims.carried_type()));
  }
  const std::vector<Tensor> parts = PartsOf(value, 0);
  builder_.Output(name, parts[0].value(),
                  LogicalTypeName(value.sequence()->carried_type));
  builder_.Output(name + ".dims", parts[1].value(),
                  kind == SequenceKind::kOptionalTensor ? "optional_dims"
                                                        : "sequence_dims");
  if (parts.size() == 3)
    builder_.Output(name + ".present", parts[2].value(), "present");
}

StatusOr<Tensor> GraphImporter::AddMapInput(const InputType& input) {
  const SequenceType& type = *input.sequence;
  const Shape shape = {builder_.FreshSymbol()};
  const Tensor values(&builder_,
                      builder_.Input(input.name, {type.dtype, shape},
                                     LogicalTypeName(type.carried_type)));
  const Tensor keys(&builder_,
                    builder_.Input(input.name + ".keys", {DType::kI64, shape},
                                   KeysTypeName(type.key_carried_type)));
  EMBER_RETURN_IF_ERROR(builder_.status());
  return MakeMap(builder_, SequenceKind::kMap, values.Marked(type.carried_type),
                 keys.Marked(type.key_carried_type));
}

StatusOr<Tensor> GraphImporter::AddSequenceInput(const InputType& input) {
  const SequenceType& type = *input.sequence;
  if (type.kind == SequenceKind::kMap) return AddMapInput(input);
  const Shape total = {builder_.FreshSymbol()};
  const Dim count = builder_.FreshSymbol();
  SequenceValue value;
  value.kind = type.kind;
  value.dtype = type.dtype;
  value.carried_type = type.carried_type;
  value.rank = type.rank;
  value.data =
      Tensor(&builder_, builder_.Input(input.name, {type.dtype, total},
                                       LogicalTypeName(type.carried_type)));
  value.dims =
      Tensor(&builder_,
             builder_.Input(
                 input.name + ".dims", {DType::kI64, {count, type.rank}},
                 type.kind == SequenceKind::kOptionalTensor ? "optional_dims"
                                                            : "sequence_dims"));
  if (type.kind == SequenceKind::kOptionalSequence) {
    value.flag = Tensor(
        &builder_,
        builder_.Input(input.name + ".present", {DType::kBool, {}}, "present"));
  }
  EMBER_RETURN_IF_ERROR(builder_.status());
  return MakeSequence(builder_, std::move(value));
}

Status GraphImporter::AddInputs(Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(std::vector<InputType> inputs,
                         ReadInputs(model_->graph(), options_));
  for (InputType& input : inputs) {
    if (input.sequence) {
      EMBER_ASSIGN_OR_RETURN(scope.values[input.name], AddSequenceInput(input));
      continue;
    }
    auto given = options_.input_values.find(input.name);
    if (given == options_.input_values.end()) {
      scope.values[input.name] =
          Tensor(&builder_, builder_.Input(input.name, input.type,
                                           LogicalTypeName(input.carried_type)))
              .Marked(input.carried_type);
      continue;
    }
    const TensorBytes& bytes = given->second;
    if (bytes.dtype != input.type.dtype ||
        bytes.is_strings() != (input.carried_type == TensorProto::STRING)) {
      return InvalidArgumentError(
          "input '" + input.name + "': expected a value of type " +
          std::string(DTypeName(input.type.dtype)) + ", found " +
          (bytes.is_strings() ? "strings"
                              : std::string(DTypeName(bytes.dtype))));
    }
    builder_.SetOrigin("input '" + input.name + "'");
    scope.values[input.name] =
        ConstantOf(builder_, bytes).Marked(input.carried_type);
  }
  return OkStatus();
}

Status GraphImporter::AddInitializers(const GraphProto& graph, Scope& scope) {
  for (const TensorProto& tensor : graph.initializer()) {
    if (!scope.initializers.emplace(tensor.name(), &tensor).second) {
      return InvalidArgumentError("initializer '" + tensor.name() +
                                  "' occurs twice");
    }
  }
  return OkStatus();
}

bool GraphImporter::IsKnown(const Scope& scope, const std::string& name) {
  for (const Scope* s = &scope; s != nullptr; s = s->parent) {
    if (s->values.count(name) > 0 || s->initializers.count(name) > 0)
      return true;
  }
  return false;
}

StatusOr<Tensor> GraphImporter::Lookup(Scope& scope, const std::string& name) {
  const auto value = scope.values.find(name);
  if (value != scope.values.end()) return value->second;
  const auto initializer = scope.initializers.find(name);
  if (initializer != scope.initializers.end()) {
    graph::GraphBuilder& builder = *scope.builder;
    EMBER_ASSIGN_OR_RETURN(TensorBytes bytes,
                           DecodeTensor(*initializer->second, model_, &files_));
    builder.SetOrigin("initializer '" + name + "'");
    const Tensor constant = ConstantOf(builder, bytes);
    EMBER_RETURN_IF_ERROR(builder.status());
    constant.value()->set_name(name);
    return scope.values[name] = constant;
  }
  if (scope.parent == nullptr)
    return InternalError("value '" + name + "' is used before it is defined");
  EMBER_ASSIGN_OR_RETURN(const Tensor outer, Lookup(*scope.parent, name));
  if (!outer || scope.region == nullptr) return outer;
  return Captured(*scope.region, outer);
}

StatusOr<std::vector<int>> GraphImporter::Order(const NodeList& nodes,
                                                const Scope& scope) const {
  return OrderNodes(
      nodes, [&](const std::string& name) { return IsKnown(scope, name); });
}

Status GraphImporter::ImportNodes(const NodeList& nodes, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int> order, Order(nodes, scope));
  for (int index : order)
    EMBER_RETURN_IF_ERROR(ImportNode(nodes[index], index, scope));
  return OkStatus();
}

Status GraphImporter::ImportNode(const NodeProto& node, int index,
                                 Scope& scope) {
  if (++imported_nodes_ > kMaxNodes) {
    return ResourceExhaustedError(
        "expected at most " + std::to_string(kMaxNodes) +
        " nodes after inlining functions, found more");
  }
  EMBER_RETURN_IF_ERROR(steps_.Begin(node.op_type()));
  // Optimizers remove the output names of nodes whose results no other node
  // uses. Such a node is skipped.
  if (node.output_size() == 0) return OkStatus();
  const std::string origin = scope.prefix + NodeOrigin(node, index);
  std::vector<Tensor> inputs;
  for (const std::string& name : node.input()) {
    Tensor input;
    if (!name.empty()) {
      EMBER_ASSIGN_OR_RETURN(input, Lookup(scope, name));
    }
    inputs.push_back(input);
  }
  EMBER_RETURN_IF_ERROR(CheckNoRepetition(node, origin));
  scope.builder->SetOrigin(origin);
  std::shared_ptr<const NodeProto> bound;
  if (scope.is_function && HasReferences(node))
    bound = BindAttributes(node, scope.bindings);
  const NodeProto& actual = bound ? *bound : node;
  if (const FunctionProto* function = index_.FunctionOf(actual)) {
    return ImportCall(*function, actual, origin, std::move(inputs), scope);
  }
  std::shared_ptr<const void> owner = model_;
  if (bound) owner = bound;
  EMBER_ASSIGN_OR_RETURN(
      const bool done, ImportControlFlow(owner, actual, origin, inputs, scope));
  if (done) return scope.builder->status();
  return ImportOperator(std::move(owner), actual, origin, std::move(inputs),
                        scope);
}

void GraphImporter::AddPooledShape(const NodeProto& node,
                                   std::vector<Tensor>& inputs,
                                   const Scope& scope) const {
  if (node.op_type() != "MaxUnpool" || inputs.size() < 3 || !inputs[2]) return;
  const auto pooled = pooled_shapes_.find(scope.prefix + node.input(1));
  if (pooled == pooled_shapes_.end()) return;
  inputs.resize(4);
  inputs[3] = Tensor(scope.builder, scope.builder->ShapeValue(pooled->second));
}

Status GraphImporter::ImportOperator(std::shared_ptr<const void> owner,
                                     const NodeProto& node,
                                     const std::string& origin,
                                     std::vector<Tensor> inputs, Scope& scope) {
  const int opset = scope.opsets->VersionOf(CanonicalDomain(node.domain()));
  const OperatorRow* row = FindOperator(node.domain(), node.op_type(), opset);
  if (row == nullptr)
    return UnimplementedError("unsupported operator: " + node.op_type());
  const std::string where = "node '" + origin + "'";
  if (Status status = CheckInputCount(node, *row, inputs); !status.ok()) {
    return status.WithContext(where);
  }
  for (const Tensor& input : inputs)
    EMBER_RETURN_IF_ERROR(CheckNotRefused(*row, input).WithContext(where));
  StatusOr<int32_t> moved_type = CheckCarriedTypes(*row, inputs);
  if (!moved_type.ok()) return moved_type.status().WithContext(where);
  if (!AddUnitAxes(node, inputs, scope)) {
    return UnimplementedError(where +
                              ": its rank depends on whether a dim is 1");
  }
  AddPooledShape(node, inputs, scope);
  NodeContext context = ContextOf(std::move(owner), node, origin,
                                  row->as_opset > 0 ? row->as_opset : opset,
                                  std::move(inputs), scope);
  row->import(context);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  if (row->as_opset == 0) {
    EMBER_RETURN_IF_ERROR(
        CheckAttributeNames(node, row->domain, opset, context.read_attributes())
            .WithContext(where));
  }
  if (row->name == "MaxPool" && context.WantsOutput(1))
    pooled_shapes_[scope.prefix + node.output(1)] = context.Input(0).shape();
  for (int i = 0; i < node.output_size(); ++i) {
    if (!context.WantsOutput(i)) continue;
    if (!context.outputs()[i]) {
      return UnimplementedError(where + ": output " + std::to_string(i) +
                                " ('" + node.output(i) + "') is not supported");
    }
    Tensor output = context.outputs()[i];
    if (output.sequence() != nullptr) {
      scope.values[node.output(i)] = output;
      continue;
    }
    if (*moved_type != 0) output = output.Marked(*moved_type);
    graph::Value* value = output.value();
    if (value != nullptr && value->name().empty())
      value->set_name(node.output(i).substr(0, kLongestName));
    scope.values[node.output(i)] = output;
  }
  return OkStatus();
}

Status GraphImporter::ImportCall(const FunctionProto& function,
                                 const NodeProto& node,
                                 const std::string& origin,
                                 std::vector<Tensor> inputs, Scope& scope) {
  const Opsets opsets(function.opset_import());
  Scope body;
  body.opsets = &opsets;
  body.builder = scope.builder;
  body.prefix = origin + "/";
  body.is_function = true;
  body.stated = {&function.value_info()};
  body.depth = scope.depth + 1;
  if (body.depth > kMaxCallDepth) {
    return InvalidArgumentError("node '" + origin +
                                "': functions call each other more than " +
                                std::to_string(kMaxCallDepth) + " levels deep");
  }
  for (const AttributeProto& attribute : function.attribute_proto()) {
    body.bindings[attribute.name()] = &attribute;
  }
  for (const AttributeProto& attribute : node.attribute()) {
    body.bindings[attribute.name()] = &attribute;
  }
  for (int i = 0; i < function.input_size(); ++i) {
    body.values[function.input(i)] =
        i < static_cast<int>(inputs.size()) ? inputs[i] : Tensor();
  }
  EMBER_RETURN_IF_ERROR(ImportNodes(function.node(), body));
  for (int i = 0; i < std::min(function.output_size(), node.output_size());
       ++i) {
    if (node.output(i).empty()) continue;
    if (!IsKnown(body, function.output(i))) {
      return InvalidArgumentError("function '" + function.name() +
                                  "': output '" + function.output(i) +
                                  "' is not produced by any node");
    }
    EMBER_ASSIGN_OR_RETURN(scope.values[node.output(i)],
                           Lookup(body, function.output(i)));
  }
  return OkStatus();
}

}  // namespace ember::onnx

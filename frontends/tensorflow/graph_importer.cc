#include "frontends/tensorflow/graph_importer.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"
#include "base/shortened.h"
#include "frontends/inputs.h"
#include "frontends/ops/complex_edges.h"
#include "frontends/tensorflow/constants.h"
#include "frontends/tensorflow/data_types.h"

namespace ember::tensorflow {
namespace {

std::string LogicalType(DataType type) {
  return WithoutReference(type) == DT_STRING ? "string" : "";
}

}  // namespace

GraphImporter::GraphImporter(std::shared_ptr<const Model> model,
                             const Entry& entry,
                             const frontends::ImportOptions& options,
                             size_t operators)
    : model_(std::move(model)),
      entry_(entry),
      options_(options),
      operators_(operators),
      steps_(options.progress) {}

StatusOr<graph::Graph> GraphImporter::Import() {
  // A variable that is assigned is found only when the assignment is imported.
  // The import then starts again with the variable as state.
  while (true) {
    found_assignment_ = false;
    StatusOr<graph::Graph> graph = ImportOnce();
    if (!found_assignment_) return graph;
  }
}

StatusOr<graph::Graph> GraphImporter::ImportOnce() {
  builder_ =
      std::make_unique<graph::GraphBuilder>("main", options_.operation_limit);
  // Expects the operators of the main body. The number grows when the import
  // calls functions and builds loops.
  steps_.StartOver();
  steps_.Expect(operators_);
  imported_operands_ = 0;
  states_.clear();
  initialized_.clear();
  Scope scope;
  scope.body = &model_->main();
  EMBER_ASSIGN_OR_RETURN(scope.flow, ControlFlowOf(*scope.body));
  scope.builder = builder_.get();
  EMBER_RETURN_IF_ERROR(AddInputs(scope));
  EMBER_RETURN_IF_ERROR(AddStates(scope));
  EMBER_RETURN_IF_ERROR(AddOutputs(scope));
  return builder_->Finish();
}

StatusOr<const ControlFlow*> GraphImporter::ControlFlowOf(const Body& body) {
  std::unique_ptr<ControlFlow>& flow = flows_[&body];
  if (flow == nullptr) {
    StatusOr<ControlFlow> made = AnalyzeControlFlow(body);
    if (!made.ok()) {
      return body.name.empty() ? made.status()
                               : made.status().WithContext(
                                     "function '" + OnOneLine(body.name) + "'");
    }
    flow = std::make_unique<ControlFlow>(*std::move(made));
  }
  return flow.get();
}

Status GraphImporter::AddInputs(Scope& scope) {
  std::vector<frontends::ModelInput> inputs;
  for (const EntryInput& input : entry_.inputs) {
    const std::optional<DType> dtype = DTypeOf(input.type);
    if (!dtype) {
      return UnimplementedError("input '" + OnOneLine(input.name) + "': type " +
                                TypeName(input.type) + " is not supported");
    }
    auto& model_input = inputs.emplace_back();
    model_input.name = input.name;
    model_input.dtype = *dtype;
    model_input.logical_type = LogicalType(input.type);
    if (!input.shape) continue;
    std::vector<frontends::ModelDim>& dims = model_input.dims.emplace();
    for (const int64_t extent : *input.shape) {
      dims.push_back(extent < 0 ? frontends::OpenDim(input.name, dims.size())
                                : frontends::ModelDim{.extent = extent});
    }
    if (IsComplex(input.type)) dims.push_back(frontends::ModelDim{.extent = 2});
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, options_, *builder_));
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor given(builder_.get(), values[i]);
    Value& value = scope.given[entry_.inputs[i].source];
    value = Value(given);
    if (!IsComplex(entry_.inputs[i].type)) continue;
    value.tensor = ops::PartOf(given, 0);
    value.imaginary = ops::PartOf(given, 1);
  }
  return OkStatus();
}

Status GraphImporter::AddOutputs(Scope& scope) {
  std::vector<Tensor> results;
  for (const EntryOutput& output : entry_.outputs) {
    const std::string what = "output '" + OnOneLine(output.name) + "'";
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(output.source, scope));
    if (value.reference) {
      EMBER_ASSIGN_OR_RETURN(value.tensor, Variable(value.resource, scope));
    } else if (value.imaginary) {
      value.tensor = ops::JoinedParts(value.tensor, value.imaginary);
    } else if (!value.is_tensor()) {
      return UnimplementedError(
          what + ": expected a tensor, found " +
          (value.list ? "a list of tensors" : "a variable or nothing"));
    }
    results.push_back(value.tensor);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    builder_->Output(entry_.outputs[i].name, results[i].value(),
                     LogicalType(entry_.outputs[i].type));
  }
  for (const auto& [variable, state] : states_) {
    EMBER_ASSIGN_OR_RETURN(const Tensor last, Variable(variable, scope));
    builder_->Output(state.name, last.value(),
                     std::string(frontends::kStateType));
  }
  if (!initialized_.empty()) {
    builder_->Output(initialized_, builder_->Scalar(1, DType::kBool),
                     std::string(frontends::kStateType));
  }
  return builder_->status();
}

Value GraphImporter::Captured(const Value& value, graph::Region& region) {
  const auto inside = [&](const Tensor& tensor) {
    return tensor ? Tensor(&region.builder(), region.Capture(tensor.value()))
                  : Tensor();
  };
  Value captured = value;
  captured.tensor = inside(value.tensor);
  captured.imaginary = inside(value.imaginary);
  if (value.list != nullptr) {
    List list = *value.list;
    list.data = inside(value.list->data);
    captured.list = std::make_shared<const List>(std::move(list));
  }
  return captured;
}

bool GraphImporter::LivesIn(int node, const Scope& scope) {
  const auto number = static_cast<size_t>(node);
  if (scope.flow->frame[number] != scope.frame) return false;
  const auto& conditions = scope.flow->conditions[number];
  return std::all_of(
      conditions.begin(), conditions.end(), [&](const Condition& condition) {
        const auto found = scope.decided.find(condition.predicate);
        return found != scope.decided.end() &&
               found->second == condition.branch;
      });
}

GraphImporter::Scope& GraphImporter::OwnerOf(int node, Scope& scope) const {
  Scope* owner = &scope;
  for (Scope* part = scope.outer; part != nullptr; part = part->outer)
    if (LivesIn(node, *part)) owner = part;
  return *owner;
}

StatusOr<Value> GraphImporter::Lookup(Source source, Scope& scope) {
  const auto given = scope.given.find(source);
  if (given != scope.given.end()) return given->second;
  Scope& owner = OwnerOf(source.node, scope);
  if (&owner != &scope) {
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(source, *scope.outer));
    if (scope.region != nullptr && scope.region != scope.outer->region)
      value = Captured(value, *scope.region);
    scope.given[source] = value;
    return value;
  }
  auto found = scope.values.find(source.node);
  if (found == scope.values.end()) {
    EMBER_RETURN_IF_ERROR(Evaluate(source.node, scope));
    found = scope.values.find(source.node);
  }
  const Node& node = scope.body->nodes[static_cast<size_t>(source.node)];
  if (found == scope.values.end() ||
      static_cast<size_t>(source.output) >= found->second.size()) {
    return DataLossError("node '" + scope.prefix + OriginOf(node) +
                         "': expected a result number " +
                         std::to_string(source.output) + ", found none");
  }
  return found->second[static_cast<size_t>(source.output)];
}

Status GraphImporter::Evaluate(int root, Scope& scope) {
  if (evaluations_ >= kMaxEvaluations) {
    return ResourceExhaustedError(
        "node '" + OriginOf(scope.body->nodes[static_cast<size_t>(root)]) +
        "': expected at most " + std::to_string(kMaxEvaluations) +
        " branches and functions that are in each other or need each other's "
        "results");
  }
  ++evaluations_;
  const Status status = EvaluateNodes(root, scope);
  --evaluations_;
  return status;
}

Status GraphImporter::EvaluateNodes(int root, Scope& scope) {
  std::vector<int> stack{root};
  std::vector<Source> required;
  while (!stack.empty()) {
    const int node = stack.back();
    if (scope.values.contains(node)) {
      stack.pop_back();
      continue;
    }
    required.clear();
    EMBER_RETURN_IF_ERROR(FindRequired(node, scope, required));
    bool ready = true;
    for (const Source& source : required) {
      if (scope.given.contains(source) || scope.values.contains(source.node) ||
          &OwnerOf(source.node, scope) != &scope)
        continue;
      if (scope.in_progress.contains(source.node)) {
        return DataLossError(
            "the nodes form a cycle through node '" +
            OriginOf(scope.body->nodes[static_cast<size_t>(source.node)]) +
            "'");
      }
      stack.push_back(source.node);
      ready = false;
    }
    scope.in_progress.insert(node);
    if (!ready) continue;
    EMBER_RETURN_IF_ERROR(ImportNode(node, scope));
    scope.in_progress.erase(node);
    stack.pop_back();
  }
  return OkStatus();
}

Status GraphImporter::FindRequired(int number, Scope& scope,
                                   std::vector<Source>& required) {
  const Node& node = scope.body->nodes[static_cast<size_t>(number)];
  // The value of an Enter comes from the scope that contains the loop.
  if (IsEnter(node)) return OkStatus();
  if (IsMerge(node) && !IsLoopMerge(*scope.body, node)) {
    EMBER_ASSIGN_OR_RETURN(const MergeChoice choice, ChoiceOf(number, scope));
    if (!scope.decided.contains(choice.predicate)) {
      required.push_back(choice.predicate);
      if (!scope.given.contains(choice.predicate) &&
          !scope.values.contains(choice.predicate.node) &&
          &OwnerOf(choice.predicate.node, scope) == &scope)
        return OkStatus();
    }
    EMBER_ASSIGN_OR_RETURN(const std::optional<int> branch,
                           DecidedBranch(choice.predicate, scope));
    if (branch) {
      required.push_back(
          node.inputs[static_cast<size_t>(choice.input[*branch])]);
    } else {
      FindSharedByBranches(node, scope, required);
    }
    return OkStatus();
  }
  if (IsExit(node)) {
    const int frame =
        scope.flow->frame[static_cast<size_t>(node.inputs[0].node)];
    for (const int enter :
         scope.flow->frames[static_cast<size_t>(frame)].enters)
      required.push_back(
          scope.body->nodes[static_cast<size_t>(enter)].inputs[0]);
    return OkStatus();
  }
  required = node.inputs;
  const std::vector<bool>& effects = EffectsBefore(*scope.body, *scope.flow);
  for (const int control : node.controls)
    if (effects[static_cast<size_t>(control)]) required.push_back({control, 0});
  return OkStatus();
}

// Finds the values of the enclosing part that the branches of a Merge need, so
// that these are imported first. Otherwise they would be imported from within
// the branches, and a chain of Merges would recurse once per Merge.
void GraphImporter::FindSharedByBranches(const Node& merge, const Scope& scope,
                                         std::vector<Source>& required) {
  const Body& body = *scope.body;
  std::vector<Source> stack(merge.inputs);
  std::set<Source> seen;
  while (!stack.empty()) {
    const Source source = stack.back();
    stack.pop_back();
    if (!seen.insert(source).second) continue;
    if (LivesIn(source.node, scope)) {
      required.push_back(source);
      continue;
    }
    const Node& node = body.nodes[static_cast<size_t>(source.node)];
    if (IsMerge(node) || IsEnter(node)) continue;
    if (IsExit(node)) {
      const int frame =
          scope.flow->frame[static_cast<size_t>(node.inputs[0].node)];
      for (const int enter :
           scope.flow->frames[static_cast<size_t>(frame)].enters)
        stack.push_back(body.nodes[static_cast<size_t>(enter)].inputs[0]);
      continue;
    }
    stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
  }
}

StatusOr<Value> GraphImporter::Operand(const Node& node, size_t index,
                                       Scope& scope) {
  if (index >= node.inputs.size()) {
    return DataLossError("expected at least " + std::to_string(index + 1) +
                         " inputs, found " +
                         std::to_string(node.inputs.size()));
  }
  return Lookup(node.inputs[index], scope);
}

StatusOr<Tensor> GraphImporter::TensorOperand(const Node& node, size_t index,
                                              Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(const Value value, Operand(node, index, scope));
  if (value.reference) return Variable(value.resource, scope);
  if (value.is_tensor()) return value.tensor;
  return DataLossError("input " + std::to_string(index) +
                       ": expected a tensor, found something else");
}

StatusOr<std::vector<Value>> GraphImporter::Operands(const Node& node,
                                                     size_t first,
                                                     Scope& scope) {
  std::vector<Value> operands;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(node.inputs[i], scope));
    operands.push_back(std::move(value));
  }
  return operands;
}

Status GraphImporter::ImportNode(int number, Scope& scope) {
  const Node& node = scope.body->nodes[static_cast<size_t>(number)];
  if (steps_.begun() >= kMaxImports) {
    return ResourceExhaustedError("expected at most " +
                                  std::to_string(kMaxImports) +
                                  " nodes, each call of a function counted");
  }
  imported_operands_ +=
      static_cast<int64_t>(node.inputs.size() + node.controls.size());
  if (imported_operands_ > kMaxOperands) {
    return ResourceExhaustedError("expected nodes with at most " +
                                  std::to_string(kMaxOperands) +
                                  " inputs, each call of a function counted");
  }
  EMBER_RETURN_IF_ERROR(steps_.Begin(node.op));
  const std::string before = scope.builder->origin();
  const std::string origin =
      Shortened(scope.prefix + OriginOf(node), kLongestOrigin);
  scope.builder->SetOrigin(origin);
  std::vector<Value> results;
  const OperatorRow* row = FindRow(node.op);
  Status status;
  if (IsMerge(node) && !IsLoopMerge(*scope.body, node)) {
    status = ImportMerge(number, scope);
  } else if (IsExit(node)) {
    status = ImportFrame(
        scope.flow->frame[static_cast<size_t>(node.inputs[0].node)], scope);
  } else if (row == nullptr ? model_->Definition(node.op) != nullptr
                            : row->kind == OperatorKind::kControl) {
    status = ImportControl(node, scope, results);
  } else if (row == nullptr || !row->reason.empty()) {
    status = UnimplementedError("unsupported operator " +
                                OnOneLine(std::string(node.op)));
  } else if (row->kind == OperatorKind::kNoResult) {
    status = OkStatus();
  } else {
    status = ImportOperator(node, *row, scope, results);
  }
  if (status.ok()) status = scope.builder->status();
  scope.builder->SetOrigin(before);
  if (!status.ok()) {
    const std::string_view message = status.message();
    return message.starts_with("node '")
               ? status
               : status.WithContext("node '" + origin + "'");
  }
  if (!scope.values.contains(number)) {
    for (Value& value : results) {
      if (value.tensor && value.tensor.value() != nullptr &&
          value.tensor.value()->name().empty())
        value.tensor.value()->set_name(Shortened(node.name, kLongestName));
    }
    scope.values[number] = std::move(results);
  }
  return OkStatus();
}

Status GraphImporter::ImportOperator(const Node& node, const OperatorRow& row,
                                     Scope& scope,
                                     std::vector<Value>& results) {
  const auto given = static_cast<int>(node.inputs.size());
  if (given < row.minimum_inputs || given > row.maximum_inputs) {
    return DataLossError("expected " + std::to_string(row.minimum_inputs) +
                         " to " + std::to_string(row.maximum_inputs) +
                         " inputs, found " + std::to_string(given));
  }
  EMBER_ASSIGN_OR_RETURN(std::vector<Value> operands, Operands(node, 0, scope));
  for (Value& operand : operands) {
    if (!operand.reference) continue;
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           Variable(operand.resource, scope));
    operand = Value(value);
  }
  const std::string_view names = row.results;
  const auto count = static_cast<int>(
      names.empty() ? 1 : 1 + std::count(names.begin(), names.end(), ','));
  OperatorContext c(*scope.builder, node, scope.attributes, std::move(operands),
                    count, model_);
  row.import(c);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  results = std::move(c.outputs());
  return OkStatus();
}

}  // namespace ember::tensorflow

// Imports variables (VarHandleOp, VariableV2, ReadVariableOp, AssignVariableOp
// …), and the search for nodes of a graph that have effects.
#include <algorithm>
#include <utility>

#include "base/one_line.h"
#include "base/unique_names.h"
#include "frontends/tensorflow/constants.h"
#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/graph_importer.h"

namespace ember::tensorflow {
namespace {

constexpr std::string_view kAssignments[] = {
    "Assign",           "AssignAdd",           "AssignSub",
    "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"};

bool IsAssignment(const Node& node) {
  return std::find(std::begin(kAssignments), std::end(kAssignments), node.op) !=
         std::end(kAssignments);
}

}  // namespace

bool GraphImporter::FunctionHasEffects(const std::string& name, int depth) {
  if (depth > kMaxDepth) return true;
  const auto known = function_effects_.find(name);
  if (known != function_effects_.end()) return known->second;
  const StatusOr<const Body*> body = model_->Function(name);
  bool effects = false;
  if (body.ok()) {
    // This provisional entry ends the search if the function calls itself. The
    // import of such a call fails later.
    function_effects_[name] = false;
    for (const Node& node : (*body)->nodes)
      effects = effects || HasEffects(node, depth + 1);
  }
  return function_effects_[name] = effects;
}

bool GraphImporter::HasEffects(const Node& node, int depth) {
  if (IsAssignment(node)) return true;
  if (node.def == nullptr) return false;
  if (model_->Definition(node.op) != nullptr &&
      FunctionHasEffects(std::string(node.op), depth))
    return true;
  for (const auto& [name, attribute] : node.def->attr()) {
    if (attribute.has_func() &&
        FunctionHasEffects(attribute.func().name(), depth))
      return true;
    if (!attribute.has_list()) continue;
    for (const NameAttrList& function : attribute.list().func())
      if (FunctionHasEffects(function.name(), depth)) return true;
  }
  return false;
}

const std::vector<bool>& GraphImporter::EffectsBefore(const Body& body,
                                                      const ControlFlow& flow) {
  std::vector<bool>& effects = effects_before_[&body];
  if (effects.size() == body.nodes.size()) return effects;
  effects.assign(body.nodes.size(), false);
  for (const int number : flow.order) {
    const Node& node = body.nodes[static_cast<size_t>(number)];
    bool any = HasEffects(node, 0);
    for (const Source& input : node.inputs)
      any = any || effects[static_cast<size_t>(input.node)];
    for (const int control : node.controls)
      any = any || effects[static_cast<size_t>(control)];
    effects[static_cast<size_t>(number)] = any;
  }
  return effects;
}

StatusOr<Tensor> GraphImporter::InitialValue(const std::string& name,
                                             graph::GraphBuilder& builder) {
  EMBER_ASSIGN_OR_RETURN(const CheckpointTensor tensor, model_->Variable(name));
  const Tensor value = CheckpointConstant(tensor, builder);
  if (value.value() != nullptr && value.value()->name().empty())
    value.value()->set_name(name);
  return value;
}

Status GraphImporter::AddStates(Scope& scope) {
  UniqueNames names;
  for (const EntryInput& input : entry_.inputs) names.Reserve(input.name);
  for (const EntryOutput& output : entry_.outputs) names.Reserve(output.name);
  if (assigned_variables_.empty()) return OkStatus();
  initialized_ = names.Take("initialized");
  Tensor initialized;
  for (const std::string& variable : assigned_variables_) {
    EMBER_ASSIGN_OR_RETURN(const Tensor initial,
                           InitialValue(variable, *builder_));
    EMBER_RETURN_IF_ERROR(builder_->status());
    State state{variable, names.Take(variable), Tensor()};
    const Tensor input(builder_.get(),
                       builder_->Input(state.name, initial.value()->type(),
                                       std::string(frontends::kStateType)));
    states_[variable] = state;
    scope.variables[variable] = input;
  }
  initialized = Tensor(builder_.get(),
                       builder_->Input(initialized_, {DType::kBool, {}},
                                       std::string(frontends::kStateType)));
  for (auto& [variable, state] : states_) {
    EMBER_ASSIGN_OR_RETURN(const Tensor initial,
                           InitialValue(variable, *builder_));
    state.value = Select(initialized, scope.variables[variable], initial);
    scope.variables[variable] = state.value;
  }
  return builder_->status();
}

StatusOr<Tensor> GraphImporter::Variable(const std::string& name,
                                         Scope& scope) {
  const auto found = scope.variables.find(name);
  if (found != scope.variables.end()) return found->second;
  Tensor value;
  Scope* around = scope.around();
  // A variable that is never assigned becomes a constant of the graph or region
  // that uses it.
  if (around == nullptr || !assigned_variables_.contains(name)) {
    EMBER_ASSIGN_OR_RETURN(value, InitialValue(name, *scope.builder));
  } else {
    EMBER_ASSIGN_OR_RETURN(const Tensor outer, Variable(name, *around));
    value = scope.region == nullptr || scope.region == around->region
                ? outer
                : Tensor(scope.builder, scope.region->Capture(outer.value()));
  }
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  scope.variables[name] = value;
  return value;
}

Status GraphImporter::Assign(const std::string& name, Tensor value,
                             Scope& scope) {
  if (scope.outer != nullptr) {
    return UnimplementedError("variable '" + OnOneLine(name) +
                              "': it is assigned in a loop or branch of "
                              "TensorFlow 1");
  }
  EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(name, scope));
  if (value.dtype() != before.dtype() || value.shape() != before.shape()) {
    return UnimplementedError(
        "variable '" + OnOneLine(name) +
        "': expected values of one type and shape, found " +
        graph::ToString(value.value()->type()) + " for " +
        graph::ToString(before.value()->type()));
  }
  if (assigned_variables_.insert(name).second) found_assignment_ = true;
  scope.variables[name] = value;
  scope.assigned.insert(name);
  return OkStatus();
}

Status GraphImporter::ImportVariableNode(const Node& node, Scope& scope,
                                         std::vector<Value>& results) {
  if (node.op == "VarHandleOp" || node.op == "VariableV2" ||
      node.op == "Variable") {
    Value handle;
    handle.resource = VariableName(node);
    handle.reference = node.op != "VarHandleOp";
    results.push_back(std::move(handle));
    return OkStatus();
  }
  EMBER_ASSIGN_OR_RETURN(const Value handle, Operand(node, 0, scope));
  if (handle.resource.empty()) {
    return DataLossError(
        "input 0: expected the handle of a variable, found none");
  }
  if (node.op == "ReadVariableOp" || node.op == "VarIsInitializedOp" ||
      node.op == "IsVariableInitialized") {
    if (node.op != "ReadVariableOp") {
      results.emplace_back(
          Tensor(scope.builder, scope.builder->Scalar(1, DType::kBool)));
      return OkStatus();
    }
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           Variable(handle.resource, scope));
    results.emplace_back(value);
    return OkStatus();
  }
  if (node.op == "VariableShape") {
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           Variable(handle.resource, scope));
    const AttrValue* type = FindAttribute(node, "out_type");
    const bool wide = type != nullptr && type->type() == DT_INT64;
    results.emplace_back(
        Cast(Tensor(scope.builder, scope.builder->ShapeValue(value.shape())),
             wide ? DType::kI64 : DType::kI32));
    return OkStatus();
  }
  EMBER_ASSIGN_OR_RETURN(Tensor value, TensorOperand(node, 1, scope));
  if (node.op != "Assign" && node.op != "AssignVariableOp") {
    EMBER_ASSIGN_OR_RETURN(const Tensor before,
                           Variable(handle.resource, scope));
    const bool adds =
        node.op == "AssignAdd" || node.op == "AssignAddVariableOp";
    value = adds ? before + value : before - value;
    EMBER_RETURN_IF_ERROR(scope.builder->status());
  }
  EMBER_RETURN_IF_ERROR(Assign(handle.resource, value, scope));
  // TensorFlow's Assign returns a reference to the variable, which later nodes
  // may read or assign.
  results.push_back(handle);
  return OkStatus();
}

}  // namespace ember::tensorflow

// Subgraphs and resources: CALL, IF, WHILE, CALL_ONCE, VAR_HANDLE,
// READ_VARIABLE, ASSIGN_VARIABLE.
#include <string>
#include <utility>
#include <vector>

#include "frontends/tflite/graph_importer.h"

namespace ember::tflite {
namespace {

using graph::GraphBuilder;
using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;
using schema::BuiltinOperator;

std::string ResourceName(const schema::Operator& op) {
  const auto& o = OptionsOf<schema::VarHandleOptions>(op);
  return TextOf(o.container()) + "/" + TextOf(o.shared_name());
}

Tensor AsScalar(Tensor condition) {
  return Cast(Reshape(condition, {}), DType::kBool);
}

}  // namespace

StatusOr<int> GraphImporter::Subgraph(int64_t number) const {
  if (number >= 0 && number < model_->subgraph_count())
    return static_cast<int>(number);
  return DataLossError("expected one of " +
                       std::to_string(model_->subgraph_count()) +
                       " subgraphs, found number " + std::to_string(number));
}

StatusOr<GraphImporter::Scope> GraphImporter::Inner(Scope& scope, int subgraph,
                                                    Region* region) {
  if (scope.depth >= kMaxCallDepth) {
    return InvalidArgumentError("expected at most " +
                                std::to_string(kMaxCallDepth) +
                                " subgraphs in each other, found more");
  }
  Scope inner;
  inner.subgraph = subgraph;
  inner.builder = region != nullptr ? &region->builder() : scope.builder;
  inner.parent = &scope;
  inner.region = region;
  inner.depth = scope.depth + 1;
  inner.prefix = scope.builder->origin() + "/";
  return inner;
}

StatusOr<std::string> GraphImporter::Resource(int tensor,
                                              const Scope& scope) const {
  const auto found = scope.resources.find(tensor);
  if (found != scope.resources.end()) return found->second;
  return DataLossError("tensor '" +
                       NameOfTensor(model_->tensor(scope.subgraph, tensor)) +
                       "': expected the handle of a variable, found none");
}

StatusOr<Tensor> GraphImporter::Variable(const std::string& resource,
                                         Scope& scope) {
  const auto found = scope.variables.find(resource);
  if (found != scope.variables.end()) return found->second;
  Tensor value;
  if (scope.parent != nullptr) {
    EMBER_ASSIGN_OR_RETURN(const Tensor outer,
                           Variable(resource, *scope.parent));
    value = scope.region == nullptr
                ? outer
                : Tensor(scope.builder, scope.region->Capture(outer.value()));
  } else {
    for (const State& state : states_) {
      const auto name = resource_states_.find(resource);
      if (name != resource_states_.end() && state.name == name->second)
        value = state.value;
    }
    if (!value) {
      return UnimplementedError("variable '" + resource +
                                "': no operator gives its type and shape");
    }
  }
  scope.variables[resource] = value;
  return value;
}

bool GraphImporter::Assigns(int subgraph, int depth) const {
  if (depth > kMaxCallDepth) return true;
  // The answer is kept for each subgraph, because many operators may call the
  // same subgraph.
  const auto known = assigns_.find(subgraph);
  if (known != assigns_.end()) return known->second;
  const bool assigns = AssignsItself(subgraph, depth);
  assigns_.emplace(subgraph, assigns);
  return assigns;
}

bool GraphImporter::AssignsItself(int subgraph, int depth) const {
  const auto inner = [&](int64_t number) {
    const StatusOr<int> called = Subgraph(number);
    return called.ok() && Assigns(*called, depth + 1);
  };
  for (const schema::Operator* op : model_->OperatorsOf(subgraph)) {
    switch (model_->CodeOf(*op)) {
      case BuiltinOperator::ASSIGN_VARIABLE:
        return true;
      case BuiltinOperator::CALL:
        if (inner(OptionsOf<schema::CallOptions>(*op).subgraph())) return true;
        break;
      case BuiltinOperator::IF: {
        const auto& o = OptionsOf<schema::IfOptions>(*op);
        if (inner(o.then_subgraph_index()) || inner(o.else_subgraph_index()))
          return true;
        break;
      }
      case BuiltinOperator::WHILE: {
        const auto& o = OptionsOf<schema::WhileOptions>(*op);
        if (inner(o.cond_subgraph_index()) || inner(o.body_subgraph_index()))
          return true;
        break;
      }
      default:
        break;
    }
  }
  return false;
}

// Adds the resources that the model's subgraphs name. The file does not state
// the type of a resource: it is that of the tensors that READ_VARIABLE and
// ASSIGN_VARIABLE read or write by its handle.
Status GraphImporter::AddResources() {
  for (int subgraph = 0; subgraph < model_->subgraph_count(); ++subgraph) {
    std::map<int, std::string> handles;
    for (const schema::Operator* op : model_->OperatorsOf(subgraph)) {
      const auto in = SpanOf(op->inputs()), out = SpanOf(op->outputs());
      const BuiltinOperator code = model_->CodeOf(*op);
      if (code == BuiltinOperator::VAR_HANDLE && !out.empty()) {
        handles[out[0]] = ResourceName(*op);
        continue;
      }
      int value = -1;
      if (code == BuiltinOperator::READ_VARIABLE && !in.empty() && !out.empty())
        value = out[0];
      if (code == BuiltinOperator::ASSIGN_VARIABLE && in.size() == 2)
        value = in[1];
      if (value < 0) continue;
      const auto handle = handles.find(in[0]);
      if (handle == handles.end() || resource_states_.contains(handle->second))
        continue;
      const schema::Tensor& info = model_->tensor(subgraph, value);
      const std::optional<DType> dtype = DTypeOf(info.type());
      if (!dtype) continue;
      Shape shape;
      for (const int32_t dim : SpanOf(info.shape())) shape.push_back(Dim(dim));
      const size_t slash = handle->second.find('/');
      EMBER_RETURN_IF_ERROR(
          StateInput(handle->second.substr(slash + 1), *dtype, shape).status());
      resource_states_[handle->second] = states_.back().name;
    }
  }
  return OkStatus();
}

StatusOr<std::vector<GraphImporter::Handed>> GraphImporter::Operands(
    const schema::Operator& op, size_t first, Scope& scope) {
  std::vector<Handed> operands;
  const auto in = SpanOf(op.inputs());
  for (size_t i = first; i < in.size(); ++i) {
    Handed operand;
    if (in[i] < 0)
      return DataLossError("expected an operand, found one left out");
    const auto resource = scope.resources.find(in[i]);
    if (resource != scope.resources.end()) {
      operand.resource = resource->second;
    } else {
      EMBER_ASSIGN_OR_RETURN(operand.tensor, Lookup(in[i], scope));
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

StatusOr<std::vector<GraphImporter::Handed>> GraphImporter::ImportSubgraph(
    Scope& scope, const std::vector<Handed>& inputs) {
  const auto tensors = model_->InputsOf(scope.subgraph);
  if (tensors.size() != inputs.size()) {
    return DataLossError("expected " + std::to_string(inputs.size()) +
                         " inputs of the subgraph, found " +
                         std::to_string(tensors.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].resource.empty()) {
      scope.resources[tensors[i]] = inputs[i].resource;
    } else {
      scope.values[tensors[i]] = inputs[i].tensor;
    }
  }
  const std::string origin = scope.builder->origin();
  EMBER_RETURN_IF_ERROR(ImportOperators(scope));
  std::vector<Handed> outputs;
  for (const int32_t tensor : model_->OutputsOf(scope.subgraph)) {
    Handed output;
    const auto resource = scope.resources.find(tensor);
    if (resource != scope.resources.end()) {
      output.resource = resource->second;
    } else {
      EMBER_ASSIGN_OR_RETURN(output.tensor, Lookup(tensor, scope));
    }
    outputs.push_back(std::move(output));
  }
  scope.builder->SetOrigin(origin);
  return outputs;
}

Status GraphImporter::SetOutputs(const schema::Operator& op,
                                 const std::vector<Handed>& values,
                                 Scope& scope) const {
  const auto out = SpanOf(op.outputs());
  if (values.size() < out.size()) {
    return DataLossError("expected " + std::to_string(out.size()) +
                         " outputs of the subgraph, found " +
                         std::to_string(values.size()));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!values[i].resource.empty()) {
      scope.resources[out[i]] = values[i].resource;
    } else {
      scope.values[out[i]] = values[i].tensor;
    }
  }
  return OkStatus();
}

Status GraphImporter::ImportControl(const schema::Operator& op, Scope& scope) {
  switch (model_->CodeOf(op)) {
    case BuiltinOperator::CALL:
      return ImportCall(op, scope);
    case BuiltinOperator::IF:
      return ImportIf(op, scope);
    case BuiltinOperator::WHILE:
      return ImportWhile(op, scope);
    case BuiltinOperator::CALL_ONCE:
      return ImportCallOnce(op, scope);
    case BuiltinOperator::VAR_HANDLE:
      return ImportVarHandle(op, scope);
    case BuiltinOperator::READ_VARIABLE:
      return ImportReadVariable(op, scope);
    case BuiltinOperator::ASSIGN_VARIABLE:
      return ImportAssignVariable(op, scope);
    default:
      return UnimplementedError("unsupported operator " + model_->NameOf(op));
  }
}

Status GraphImporter::ImportCall(const schema::Operator& op, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(
      const int subgraph,
      Subgraph(OptionsOf<schema::CallOptions>(op).subgraph()));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Handed> operands,
                         Operands(op, 0, scope));
  EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, subgraph, nullptr));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Handed> outputs,
                         ImportSubgraph(inner, operands));
  for (const std::string& resource : inner.assigned) {
    scope.variables[resource] = inner.variables[resource];
    scope.assigned.insert(resource);
  }
  return SetOutputs(op, outputs, scope);
}

Status GraphImporter::ImportIf(const schema::Operator& op, Scope& scope) {
  const auto& options = OptionsOf<schema::IfOptions>(op);
  EMBER_ASSIGN_OR_RETURN(const int then_subgraph,
                         Subgraph(options.then_subgraph_index()));
  EMBER_ASSIGN_OR_RETURN(const int else_subgraph,
                         Subgraph(options.else_subgraph_index()));
  EMBER_ASSIGN_OR_RETURN(const Tensor condition,
                         Lookup(SpanOf(op.inputs())[0], scope));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Handed> operands,
                         Operands(op, 1, scope));
  const std::string origin = scope.builder->origin();
  graph::IfRegions regions(*scope.builder);
  struct Branch {
    Scope scope;
    std::vector<Handed> outputs;
  };
  const auto import = [&](Region& region, int subgraph) -> StatusOr<Branch> {
    region.builder().SetOrigin(origin);
    Branch branch;
    EMBER_ASSIGN_OR_RETURN(branch.scope, Inner(scope, subgraph, &region));
    std::vector<Handed> inside;
    for (const Handed& operand : operands) {
      Handed captured{Tensor(), operand.resource};
      if (operand.resource.empty()) {
        captured.tensor =
            Tensor(&region.builder(), region.Capture(operand.tensor.value()));
      }
      inside.push_back(std::move(captured));
    }
    EMBER_ASSIGN_OR_RETURN(branch.outputs,
                           ImportSubgraph(branch.scope, inside));
    return branch;
  };
  EMBER_ASSIGN_OR_RETURN(Branch first, import(regions.then(), then_subgraph));
  EMBER_ASSIGN_OR_RETURN(Branch second,
                         import(regions.otherwise(), else_subgraph));
  std::set<std::string> assigned = first.scope.assigned;
  assigned.insert(second.scope.assigned.begin(), second.scope.assigned.end());
  if (first.outputs.size() != second.outputs.size())
    return DataLossError("expected branches with as many outputs");
  std::vector<Value*> then_values, else_values;
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    if (!first.outputs[i].resource.empty() ||
        !second.outputs[i].resource.empty())
      return UnimplementedError("a branch that gives a variable's handle");
    then_values.push_back(first.outputs[i].tensor.value());
    else_values.push_back(second.outputs[i].tensor.value());
  }
  // Only resources that a branch assigns become results. A resource that a
  // branch only reads is captured by its region.
  for (const std::string& resource : assigned) {
    EMBER_ASSIGN_OR_RETURN(const Tensor then_value,
                           Variable(resource, first.scope));
    EMBER_ASSIGN_OR_RETURN(const Tensor else_value,
                           Variable(resource, second.scope));
    then_values.push_back(then_value.value());
    else_values.push_back(else_value.value());
  }
  const std::vector<Value*> results =
      regions.Build(AsScalar(condition).value(), then_values, else_values);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  std::vector<Handed> outputs;
  for (size_t i = 0; i < first.outputs.size(); ++i)
    outputs.push_back({Tensor(scope.builder, results[i]), ""});
  size_t next = first.outputs.size();
  for (const std::string& resource : assigned) {
    scope.variables[resource] = Tensor(scope.builder, results[next++]);
    scope.assigned.insert(resource);
  }
  return SetOutputs(op, outputs, scope);
}

Status GraphImporter::ImportWhile(const schema::Operator& op, Scope& scope) {
  const auto& options = OptionsOf<schema::WhileOptions>(op);
  EMBER_ASSIGN_OR_RETURN(const int condition_subgraph,
                         Subgraph(options.cond_subgraph_index()));
  EMBER_ASSIGN_OR_RETURN(const int body_subgraph,
                         Subgraph(options.body_subgraph_index()));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Handed> operands,
                         Operands(op, 0, scope));
  // The loop carries the variables that the body may assign along with the
  // tensors.
  std::vector<std::string> carried;
  if (Assigns(body_subgraph, 0)) {
    for (const auto& [resource, state] : resource_states_)
      carried.push_back(resource);
  }
  const std::string origin = scope.builder->origin();
  LoopRequest request;
  request.conditional = true;
  for (const Handed& operand : operands) {
    if (!operand.resource.empty()) continue;
    request.carried.push_back(operand.tensor.value());
  }
  for (const std::string& resource : carried) {
    EMBER_ASSIGN_OR_RETURN(const Tensor value, Variable(resource, scope));
    request.carried.push_back(value.value());
  }
  const auto condition =
      [&](Scope& around,
          const std::vector<Handed>& values) -> StatusOr<Value*> {
    EMBER_ASSIGN_OR_RETURN(Scope inner,
                           Inner(around, condition_subgraph, nullptr));
    EMBER_ASSIGN_OR_RETURN(const std::vector<Handed> outputs,
                           ImportSubgraph(inner, values));
    if (outputs.size() != 1 || !outputs[0].resource.empty())
      return DataLossError("expected a condition with one output");
    return AsScalar(outputs[0].tensor).value();
  };
  EMBER_ASSIGN_OR_RETURN(request.condition, condition(scope, operands));
  const auto body = [&](Region& region, const LoopInputs& in,
                        LoopOutputs& out) -> Status {
    GraphBuilder& inside = region.builder();
    inside.SetOrigin(origin);
    EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, body_subgraph, &region));
    std::vector<Handed> values;
    size_t next = 0;
    for (const Handed& operand : operands) {
      values.push_back({operand.resource.empty()
                            ? Tensor(&inside, in.carried[next++])
                            : Tensor(),
                        operand.resource});
    }
    for (const std::string& resource : carried)
      inner.variables[resource] = Tensor(&inside, in.carried[next++]);
    EMBER_ASSIGN_OR_RETURN(std::vector<Handed> outputs,
                           ImportSubgraph(inner, values));
    if (outputs.size() != operands.size())
      return DataLossError("expected a body with as many outputs as inputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].resource != operands[i].resource)
        return UnimplementedError("a loop that changes a variable's handle");
    }
    EMBER_ASSIGN_OR_RETURN(out.proceed, condition(inner, outputs));
    for (const Handed& output : outputs)
      if (output.resource.empty()) out.carried.push_back(output.tensor.value());
    for (const std::string& resource : carried)
      out.carried.push_back(inner.variables[resource].value());
    return inside.status();
  };
  const std::vector<Value*> results = BuildLoop(
      *scope.builder, request,
      [&](Region& region, const LoopInputs& in) -> LoopOutputs {
        LoopOutputs out;
        const Status status = body(region, in, out);
        if (status.ok()) return out;
        region.builder().Fail(status);
        return {.proceed = nullptr,
                .carried = std::vector<Value*>(request.carried.size()),
                .stacked = {}};
      });
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  std::vector<Handed> outputs;
  size_t next = 0;
  for (const Handed& operand : operands) {
    outputs.push_back({operand.resource.empty()
                           ? Tensor(scope.builder, results[next++])
                           : Tensor(),
                       operand.resource});
  }
  for (const std::string& resource : carried) {
    scope.variables[resource] = Tensor(scope.builder, results[next++]);
    scope.assigned.insert(resource);
  }
  return SetOutputs(op, outputs, scope);
}

// Imports CALL_ONCE. A boolean state says if the called subgraph has run.
// Before the first run, the values that the subgraph assigns replace those of
// the resources.
Status GraphImporter::ImportCallOnce(const schema::Operator& op, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(
      const int subgraph,
      Subgraph(OptionsOf<schema::CallOnceOptions>(op).init_subgraph_index()));
  if (scope.parent != nullptr)
    return UnimplementedError("CALL_ONCE in a subgraph that is called");
  if (once_.contains(subgraph)) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, subgraph, nullptr));
  EMBER_RETURN_IF_ERROR(ImportSubgraph(inner, {}).status());
  if (inner.assigned.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const Tensor done,
                         StateInput("initialized", DType::kBool, {}));
  once_[subgraph] = states_.back().name;
  for (const std::string& resource : inner.assigned) {
    EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(resource, scope));
    scope.variables[resource] = Select(done, before, inner.variables[resource]);
    scope.assigned.insert(resource);
  }
  return OkStatus();
}

Status GraphImporter::ImportVarHandle(const schema::Operator& op,
                                      Scope& scope) {
  const auto out = SpanOf(op.outputs());
  if (out.size() != 1) return DataLossError("expected one output");
  scope.resources[out[0]] = ResourceName(op);
  return OkStatus();
}

Status GraphImporter::ImportReadVariable(const schema::Operator& op,
                                         Scope& scope) {
  const auto in = SpanOf(op.inputs()), out = SpanOf(op.outputs());
  if (out.size() != 1) return DataLossError("expected one output");
  EMBER_ASSIGN_OR_RETURN(const std::string resource, Resource(in[0], scope));
  EMBER_ASSIGN_OR_RETURN(scope.values[out[0]], Variable(resource, scope));
  return OkStatus();
}

Status GraphImporter::ImportAssignVariable(const schema::Operator& op,
                                           Scope& scope) {
  const auto in = SpanOf(op.inputs());
  EMBER_ASSIGN_OR_RETURN(const std::string resource, Resource(in[0], scope));
  EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(resource, scope));
  EMBER_ASSIGN_OR_RETURN(const Tensor value, Lookup(in[1], scope));
  if (value.dtype() != before.dtype() || value.shape() != before.shape()) {
    return UnimplementedError("variable '" + resource +
                              "': expected values of one type and shape, "
                              "found " +
                              graph::ToString(value.value()->type()) + " for " +
                              graph::ToString(before.value()->type()));
  }
  scope.variables[resource] = value;
  scope.assigned.insert(resource);
  return OkStatus();
}

}  // namespace ember::tflite

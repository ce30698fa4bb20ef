// Functions, and the control flow that is made of them: PartitionedCall, If,
// Case, While. Also builds the loops of both versions.
#include <string>
#include <utility>

#include "base/one_line.h"
#include "frontends/tensorflow/graph_importer.h"

namespace ember::tensorflow {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;

// Converts a number or bool of one element to a bool scalar.
Tensor AsScalar(Tensor condition) {
  return Cast(Reshape(condition, {}), DType::kBool);
}

// Appends the tensors that represent a value where it enters or leaves a
// region, in order.
void Append(const Value& value, std::vector<graph::Value*>& tensors) {
  if (value.tensor) tensors.push_back(value.tensor.value());
  if (value.imaginary) tensors.push_back(value.imaginary.value());
  if (value.list != nullptr && value.list->data)
    tensors.push_back(value.list->data.value());
}

std::vector<graph::Value*> TensorsOf(const std::vector<Value>& values) {
  std::vector<graph::Value*> tensors;
  for (const Value& value : values) Append(value, tensors);
  return tensors;
}

// Returns values with the structure of `pattern` that consist of other tensors.
// `next` is advanced past the tensors that were used.
std::vector<Value> WithTensors(const std::vector<Value>& pattern,
                               const std::vector<graph::Value*>& tensors,
                               graph::GraphBuilder& builder, size_t& next) {
  const auto take = [&] {
    return next < tensors.size() ? Tensor(&builder, tensors[next++])
                                 : Tensor(&builder, nullptr);
  };
  std::vector<Value> values;
  for (const Value& like : pattern) {
    Value value = like;
    if (like.tensor) value.tensor = take();
    if (like.imaginary) value.imaginary = take();
    if (like.list != nullptr && like.list->data) {
      List list = *like.list;
      list.data = take();
      value.list = std::make_shared<const List>(std::move(list));
    }
    values.push_back(std::move(value));
  }
  return values;
}

// True if both values are of the same kind and name the same resource, if any,
// so that one may be the result of the then branch and the other the result of
// the else branch.
bool IsAlike(const Value& a, const Value& b) {
  return a.tensor.present() == b.tensor.present() &&
         a.imaginary.present() == b.imaginary.present() &&
         a.resource == b.resource &&
         (a.list == nullptr) == (b.list == nullptr) &&
         (a.list == nullptr ||
          a.list->data.present() == b.list->data.present());
}

bool IsUnshaped(const Value& value) {
  return value.list != nullptr && !value.list->data;
}

// Returns a list of zeros whose elements have the dims of another list's
// elements.
Value ShapedLike(const Value& unshaped, const List& other,
                 graph::GraphBuilder& builder) {
  List list = *unshaped.list;
  Shape shape(other.data.shape().begin() + 1, other.data.shape().end());
  shape.insert(shape.begin(), list.count);
  list.dtype = other.data.dtype();
  const Tensor zero(&builder, builder.Scalar(0, list.dtype));
  list.data = Broadcast(zero, shape);
  Value value = unshaped;
  value.list = std::make_shared<const List>(std::move(list));
  return value;
}

StatusOr<const NameAttrList*> FunctionAttribute(const Node& node,
                                                std::string_view name,
                                                const AttributeMap* call) {
  const AttrValue* attribute = ResolveAttribute(node, name, call);
  if (attribute != nullptr && attribute->has_func()) return &attribute->func();
  return DataLossError("attribute '" + std::string(name) +
                       "': expected a function");
}

}  // namespace

StatusOr<GraphImporter::Scope> GraphImporter::Inner(
    Scope& scope, const NameAttrList& function, Region* region) {
  return Inner(scope, function.name(), function.attr(), region);
}

StatusOr<GraphImporter::Scope> GraphImporter::Inner(
    Scope& scope, std::string_view function, const AttributeMap& attributes,
    Region* region) {
  if (scope.depth >= kMaxDepth) {
    return InvalidArgumentError("expected at most " +
                                std::to_string(kMaxDepth) +
                                " functions in each other, found more");
  }
  Scope inner;
  EMBER_ASSIGN_OR_RETURN(inner.body, model_->Function(function));
  EMBER_ASSIGN_OR_RETURN(inner.flow, ControlFlowOf(*inner.body));
  inner.builder = region != nullptr ? &region->builder() : scope.builder;
  inner.caller = &scope;
  inner.region = region != nullptr ? region : scope.region;
  inner.depth = scope.depth + 1;
  inner.prefix = scope.builder->origin() + "/";
  inner.attributes = &attributes;
  return inner;
}

StatusOr<std::vector<Value>> GraphImporter::RunFunction(
    Scope& scope, std::vector<Value> arguments) {
  const Body& body = *scope.body;
  if (static_cast<int>(arguments.size()) != body.arguments) {
    return DataLossError("function '" + OnOneLine(body.name) + "': expected " +
                         std::to_string(body.arguments) + " arguments, found " +
                         std::to_string(arguments.size()));
  }
  const std::string origin = scope.builder->origin();
  for (int i = 0; i < body.arguments; ++i)
    scope.values[i] = {std::move(arguments[static_cast<size_t>(i)])};
  // Imports the function's nodes with effects (assignments) first, in the order
  // that control edges and data require, because no result may depend on them.
  const std::vector<bool>& effects = EffectsBefore(body, *scope.flow);
  for (const int control : body.control_results) {
    if (effects[static_cast<size_t>(control)] &&
        !scope.values.contains(control))
      EMBER_RETURN_IF_ERROR(Evaluate(control, scope));
  }
  std::vector<Value> results;
  for (const Source& source : body.results) {
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(source, scope));
    if (value.reference) {
      EMBER_ASSIGN_OR_RETURN(const Tensor read,
                             Variable(value.resource, scope));
      value = Value(read);
    }
    results.push_back(std::move(value));
  }
  scope.builder->SetOrigin(origin);
  return results;
}

Status GraphImporter::ImportControl(const Node& node, Scope& scope,
                                    std::vector<Value>& results) {
  const std::string_view op = node.op;
  if (op == "Switch" || op == "RefSwitch") {
    // Both results of a Switch are imported as its operand: a node that depends
    // on the predicate is only imported in the branch in which it is alive.
    EMBER_ASSIGN_OR_RETURN(const Value value, Operand(node, 0, scope));
    results = {value, value};
    return OkStatus();
  }
  if (op == "_Arg") return DataLossError("expected an argument, found none");
  if (IsEnter(node)) {
    if (scope.outer == nullptr || node.inputs.empty())
      return DataLossError("expected a loop around, found none");
    EMBER_ASSIGN_OR_RETURN(Value value, Lookup(node.inputs[0], *scope.outer));
    if (scope.region != nullptr && scope.region != scope.outer->region)
      value = Captured(value, *scope.region);
    results = {std::move(value)};
    return OkStatus();
  }
  if (op == "LoopCond" || IsNextIteration(node)) {
    EMBER_ASSIGN_OR_RETURN(Value value, Operand(node, 0, scope));
    results = {std::move(value)};
    return OkStatus();
  }
  // The Merge at the head of a loop has a value while the loop is imported. If
  // it has none here, a node outside of the loop reads it, which is an error.
  if (IsMerge(node)) return DataLossError("expected a loop around, found none");
  if (op == "Identity" || op == "IdentityN" || op == "RefIdentity") {
    EMBER_ASSIGN_OR_RETURN(results, Operands(node, 0, scope));
    for (Value& value : results) {
      if (!value.reference || op == "RefIdentity") continue;
      EMBER_ASSIGN_OR_RETURN(const Tensor read,
                             Variable(value.resource, scope));
      value = Value(read);
    }
    return OkStatus();
  }
  if (op == "PlaceholderWithDefault") {
    EMBER_ASSIGN_OR_RETURN(results, Operands(node, 0, scope));
    return OkStatus();
  }
  if (op == "Placeholder" || op == "PlaceholderV2") {
    return InvalidArgumentError(
        "the result needs this placeholder, which is no input of the entry");
  }
  if (op == "If" || op == "StatelessIf") return ImportIf(node, scope, results);
  if (op == "Case" || op == "StatelessCase")
    return ImportCase(node, scope, results);
  if (op == "While" || op == "StatelessWhile")
    return ImportWhile(node, scope, results);
  if (op == "ResourceGather" || op == "ResourceGatherNd") {
    EMBER_ASSIGN_OR_RETURN(const Value handle, Operand(node, 0, scope));
    if (handle.resource.empty())
      return DataLossError("input 0: expected a variable, found none");
    EMBER_ASSIGN_OR_RETURN(const Tensor table,
                           Variable(handle.resource, scope));
    EMBER_ASSIGN_OR_RETURN(const Tensor indices, TensorOperand(node, 1, scope));
    const AttrValue* batch = FindAttribute(node, "batch_dims");
    if (batch != nullptr && batch->i() != 0)
      return UnimplementedError("attribute 'batch_dims': expected 0");
    const Tensor places = Cast(indices, DType::kI64);
    results.emplace_back(op == "ResourceGather"
                             ? Gather(table, places, 0)
                             : Apply("gather_nd", {table, places},
                                     {{"batch_dims", int64_t{0}}}));
    return OkStatus();
  }
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall" ||
      model_->Definition(op) != nullptr)
    return ImportCall(node, scope, results);
  return ImportVariableNode(node, scope, results);
}

Status GraphImporter::ImportCall(const Node& node, Scope& scope,
                                 std::vector<Value>& results) {
  std::string_view function = node.op;
  const AttributeMap* attributes = &node.def->attr();
  if (model_->Definition(node.op) == nullptr) {
    EMBER_ASSIGN_OR_RETURN(const NameAttrList* named,
                           FunctionAttribute(node, "f", scope.attributes));
    function = named->name();
    attributes = &named->attr();
  }
  EMBER_ASSIGN_OR_RETURN(std::vector<Value> arguments,
                         Operands(node, 0, scope));
  EMBER_ASSIGN_OR_RETURN(Scope inner,
                         Inner(scope, function, *attributes, nullptr));
  EMBER_ASSIGN_OR_RETURN(results, RunFunction(inner, std::move(arguments)));
  for (const std::string& variable : inner.assigned) {
    scope.variables[variable] = inner.variables[variable];
    scope.assigned.insert(variable);
  }
  return OkStatus();
}

StatusOr<GraphImporter::Choice> GraphImporter::RunInRegion(
    const NameAttrList& function, const std::vector<Value>& arguments,
    Region& region, Scope& scope) {
  EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, function, &region));
  std::vector<Value> inside;
  for (const Value& argument : arguments)
    inside.push_back(Captured(argument, region));
  Choice choice;
  EMBER_ASSIGN_OR_RETURN(choice.outputs, RunFunction(inner, std::move(inside)));
  for (const std::string& variable : inner.assigned)
    choice.assigned[variable] = inner.variables[variable];
  return choice;
}

StatusOr<std::vector<Value>> GraphImporter::BuildIf(Tensor condition,
                                                    Scope& scope,
                                                    const Chooser& first,
                                                    const Chooser& second) {
  const std::string origin = scope.builder->origin();
  graph::IfRegions regions(*scope.builder);
  const auto choose = [&](Region& region,
                          const Chooser& chooser) -> StatusOr<Choice> {
    region.builder().SetOrigin(origin);
    StatusOr<Choice> choice = chooser(region, scope);
    EMBER_RETURN_IF_ERROR(region.builder().status());
    return choice;
  };
  EMBER_ASSIGN_OR_RETURN(Choice then, choose(regions.then(), first));
  Region& otherwise_region = regions.otherwise();
  EMBER_ASSIGN_OR_RETURN(Choice otherwise, choose(otherwise_region, second));
  if (then.outputs.size() != otherwise.outputs.size())
    return DataLossError("expected branches with as many results");
  for (size_t i = 0; i < then.outputs.size(); ++i) {
    Value& a = then.outputs[i];
    Value& b = otherwise.outputs[i];
    if (IsUnshaped(a) && b.list != nullptr && b.list->data)
      a = ShapedLike(a, *b.list, regions.then().builder());
    if (IsUnshaped(b) && a.list != nullptr && a.list->data)
      b = ShapedLike(b, *a.list, otherwise_region.builder());
    if (!IsAlike(a, b)) {
      return UnimplementedError("result " + std::to_string(i) +
                                ": expected the branches to give one kind of "
                                "value");
    }
  }
  std::set<std::string> assigned;
  for (const auto& [variable, value] : then.assigned) assigned.insert(variable);
  for (const auto& [variable, value] : otherwise.assigned)
    assigned.insert(variable);
  std::vector<graph::Value*> then_tensors = TensorsOf(then.outputs);
  std::vector<graph::Value*> else_tensors = TensorsOf(otherwise.outputs);
  const auto kept = [&](const Choice& choice, const std::string& variable,
                        Region& region) -> StatusOr<graph::Value*> {
    const auto found = choice.assigned.find(variable);
    if (found != choice.assigned.end()) return found->second.value();
    EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(variable, scope));
    return region.Capture(before.value());
  };
  for (const std::string& variable : assigned) {
    EMBER_ASSIGN_OR_RETURN(graph::Value * a,
                           kept(then, variable, regions.then()));
    EMBER_ASSIGN_OR_RETURN(graph::Value * b,
                           kept(otherwise, variable, otherwise_region));
    then_tensors.push_back(a);
    else_tensors.push_back(b);
  }
  const std::vector<graph::Value*> results =
      regions.Build(AsScalar(condition).value(), then_tensors, else_tensors);
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  size_t next = 0;
  std::vector<Value> outputs =
      WithTensors(then.outputs, results, *scope.builder, next);
  for (const std::string& variable : assigned) {
    scope.variables[variable] = Tensor(scope.builder, results[next++]);
    scope.assigned.insert(variable);
  }
  return outputs;
}

Status GraphImporter::ImportIf(const Node& node, Scope& scope,
                               std::vector<Value>& results) {
  EMBER_ASSIGN_OR_RETURN(
      const NameAttrList* then,
      FunctionAttribute(node, "then_branch", scope.attributes));
  EMBER_ASSIGN_OR_RETURN(
      const NameAttrList* otherwise,
      FunctionAttribute(node, "else_branch", scope.attributes));
  EMBER_ASSIGN_OR_RETURN(const Tensor condition, TensorOperand(node, 0, scope));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Value> arguments,
                         Operands(node, 1, scope));
  const auto known = scope.builder->ConstantContents(condition.value());
  if (known && known->size() == 1) {
    EMBER_ASSIGN_OR_RETURN(
        Scope inner,
        Inner(scope, known->front() != 0 ? *then : *otherwise, nullptr));
    EMBER_ASSIGN_OR_RETURN(results, RunFunction(inner, arguments));
    for (const std::string& variable : inner.assigned) {
      scope.variables[variable] = inner.variables[variable];
      scope.assigned.insert(variable);
    }
    return OkStatus();
  }
  EMBER_ASSIGN_OR_RETURN(
      results, BuildIf(
                   condition, scope,
                   [&](Region& region, Scope& around) {
                     return RunInRegion(*then, arguments, region, around);
                   },
                   [&](Region& region, Scope& around) {
                     return RunInRegion(*otherwise, arguments, region, around);
                   }));
  return OkStatus();
}

StatusOr<std::vector<Value>> GraphImporter::ChooseCase(
    const Node& node, int branch, Tensor index,
    const std::vector<Value>& arguments, Scope& scope) {
  const auto& branches =
      ResolveAttribute(node, "branches", scope.attributes)->list().func();
  const NameAttrList& function = branches.Get(branch);
  // Case runs its last branch for an index that is out of range, so the last
  // branch needs no comparison.
  if (branch + 1 == branches.size()) {
    EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, function, nullptr));
    EMBER_ASSIGN_OR_RETURN(std::vector<Value> results,
                           RunFunction(inner, arguments));
    for (const std::string& variable : inner.assigned) {
      scope.variables[variable] = inner.variables[variable];
      scope.assigned.insert(variable);
    }
    return results;
  }
  return BuildIf(
      Equal(index, branch), scope,
      [&](Region& region, Scope& around) {
        return RunInRegion(function, arguments, region, around);
      },
      [&](Region& region, Scope& around) -> StatusOr<Choice> {
        // The else region contains the choice among the remaining branches of
        // the Case.
        Scope rest;
        rest.body = around.body;
        rest.flow = around.flow;
        rest.builder = &region.builder();
        rest.caller = &around;
        rest.region = &region;
        rest.depth = around.depth + 1;
        rest.prefix = around.prefix;
        rest.attributes = around.attributes;
        std::vector<Value> inside;
        for (const Value& argument : arguments)
          inside.push_back(Captured(argument, region));
        Choice choice;
        EMBER_ASSIGN_OR_RETURN(
            choice.outputs,
            ChooseCase(node, branch + 1,
                       Tensor(rest.builder, region.Capture(index.value())),
                       inside, rest));
        for (const std::string& variable : rest.assigned)
          choice.assigned[variable] = rest.variables[variable];
        return choice;
      });
}

Status GraphImporter::ImportCase(const Node& node, Scope& scope,
                                 std::vector<Value>& results) {
  const AttrValue* branches =
      ResolveAttribute(node, "branches", scope.attributes);
  const int count = branches == nullptr || !branches->has_list()
                        ? 0
                        : branches->list().func_size();
  if (count < 1 || count > kMaxDepth - scope.depth) {
    return InvalidArgumentError("attribute 'branches': expected 1 to " +
                                std::to_string(kMaxDepth - scope.depth) +
                                " functions, found " + std::to_string(count));
  }
  EMBER_ASSIGN_OR_RETURN(const Tensor index, TensorOperand(node, 0, scope));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Value> arguments,
                         Operands(node, 1, scope));
  EMBER_ASSIGN_OR_RETURN(
      results, ChooseCase(node, 0, Reshape(index, {}), arguments, scope));
  return OkStatus();
}

Status GraphImporter::ImportWhile(const Node& node, Scope& scope,
                                  std::vector<Value>& results) {
  EMBER_ASSIGN_OR_RETURN(const NameAttrList* condition,
                         FunctionAttribute(node, "cond", scope.attributes));
  EMBER_ASSIGN_OR_RETURN(const NameAttrList* body,
                         FunctionAttribute(node, "body", scope.attributes));
  Loop loop;
  EMBER_ASSIGN_OR_RETURN(loop.carried, Operands(node, 0, scope));
  loop.assigns = FunctionHasEffects(body->name(), 0);
  const auto holds = [&](Scope& around, Region* region,
                         const std::vector<Value>& values) -> StatusOr<Tensor> {
    EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(around, *condition, region));
    EMBER_ASSIGN_OR_RETURN(const std::vector<Value> outputs,
                           RunFunction(inner, values));
    if (outputs.size() != 1 || !outputs[0].is_tensor())
      return DataLossError("expected a condition with one result");
    return AsScalar(outputs[0].tensor);
  };
  EMBER_ASSIGN_OR_RETURN(loop.condition, holds(scope, nullptr, loop.carried));
  loop.build_iteration = [&](Region& region, std::vector<Value>& values,
                             std::map<std::string, Tensor>& variables,
                             Tensor& proceed) -> Status {
    EMBER_ASSIGN_OR_RETURN(Scope inner, Inner(scope, *body, &region));
    inner.variables = variables;
    EMBER_ASSIGN_OR_RETURN(values, RunFunction(inner, values));
    for (auto& [variable, value] : variables) value = inner.variables[variable];
    EMBER_ASSIGN_OR_RETURN(proceed, holds(inner, &region, values));
    return OkStatus();
  };
  EMBER_ASSIGN_OR_RETURN(results, BuildLoop(loop, scope));
  return OkStatus();
}

Status GraphImporter::ShapeLists(Loop& loop, Scope& scope) {
  // A trial iteration shows the shapes of the elements that it puts into lists.
  // The shape of one list may depend on that of another, so further rounds
  // follow while one is found.
  for (size_t round = 0; round <= loop.carried.size(); ++round) {
    bool unshaped = false;
    for (const Value& value : loop.carried)
      unshaped = unshaped || IsUnshaped(value);
    if (!unshaped) return OkStatus();
    Region region(*scope.builder, "turn");
    region.builder().SetOrigin(scope.builder->origin());
    std::vector<Value> values;
    for (const Value& value : loop.carried)
      values.push_back(Captured(value, region));
    std::map<std::string, Tensor> variables;
    if (loop.assigns) {
      for (const auto& [variable, state] : states_) {
        EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(variable, scope));
        variables[variable] =
            Tensor(&region.builder(), region.Capture(before.value()));
      }
    }
    Tensor proceed;
    EMBER_RETURN_IF_ERROR(
        loop.build_iteration(region, values, variables, proceed));
    EMBER_RETURN_IF_ERROR(region.builder().status());
    bool found = false;
    for (size_t i = 0; i < loop.carried.size() && i < values.size(); ++i) {
      if (!IsUnshaped(loop.carried[i]) || values[i].list == nullptr ||
          !values[i].list->data)
        continue;
      const List& shaped = *values[i].list;
      for (int d = 1; d < shaped.data.rank(); ++d) {
        for (const std::string& symbol : shaped.data.dim(d).Symbols()) {
          if (symbol.starts_with('_')) {
            return UnimplementedError(
                "a list in a loop whose elements' shape depends on data");
          }
        }
      }
      // The carried list gets the element shape that the trial iteration gave
      // it, but keeps the number of elements that it has before the loop.
      loop.carried[i] = ShapedLike(loop.carried[i], shaped, *scope.builder);
      found = true;
    }
    if (!found) break;
  }
  return OkStatus();
}

StatusOr<std::vector<Value>> GraphImporter::BuildLoop(Loop& loop,
                                                      Scope& scope) {
  EMBER_RETURN_IF_ERROR(ShapeLists(loop, scope));
  const std::string origin = scope.builder->origin();
  LoopRequest request;
  request.conditional = true;
  request.carried = TensorsOf(loop.carried);
  request.condition = loop.condition.value();
  std::vector<std::string> variables;
  if (loop.assigns) {
    for (const auto& [variable, state] : states_) {
      EMBER_ASSIGN_OR_RETURN(const Tensor before, Variable(variable, scope));
      request.carried.push_back(before.value());
      variables.push_back(variable);
    }
  }
  const auto build_iteration = [&](Region& region, const LoopInputs& in,
                                   LoopOutputs& out) -> Status {
    region.builder().SetOrigin(origin);
    size_t next = 0;
    std::vector<Value> values =
        WithTensors(loop.carried, in.carried, region.builder(), next);
    std::map<std::string, Tensor> inside;
    for (const std::string& variable : variables)
      inside[variable] = Tensor(&region.builder(), in.carried[next++]);
    Tensor proceed;
    EMBER_RETURN_IF_ERROR(
        loop.build_iteration(region, values, inside, proceed));
    if (values.size() != loop.carried.size())
      return DataLossError("expected a body with as many results as inputs");
    for (size_t i = 0; i < values.size(); ++i) {
      if (!IsAlike(values[i], loop.carried[i])) {
        return UnimplementedError(
            "value " + std::to_string(i) +
            ": expected a loop to keep what kind of value it is");
      }
    }
    out.proceed = proceed.value();
    out.carried = TensorsOf(values);
    for (const std::string& variable : variables)
      out.carried.push_back(inside[variable].value());
    return region.builder().status();
  };
  const std::vector<graph::Value*> results = graph::BuildLoop(
      *scope.builder, request,
      [&](Region& region, const LoopInputs& in) -> LoopOutputs {
        LoopOutputs out;
        const Status status = build_iteration(region, in, out);
        if (status.ok()) return out;
        region.builder().Fail(status);
        return {.proceed = nullptr,
                .carried = std::vector<graph::Value*>(request.carried.size()),
                .stacked = {}};
      });
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  size_t next = 0;
  std::vector<Value> outputs =
      WithTensors(loop.carried, results, *scope.builder, next);
  for (const std::string& variable : variables) {
    scope.variables[variable] = Tensor(scope.builder, results[next++]);
    scope.assigned.insert(variable);
  }
  return outputs;
}

}  // namespace ember::tensorflow

#include "frontends/torch_export/graph_importer.h"

#include <utility>

#include "base/one_line.h"
#include "frontends/torch_export/targets.h"

namespace ember::torch_export {
namespace {

using Kind = Value::Kind;

std::string OriginOf(const Node& node) {
  std::string_view target = node.target;
  if (target.starts_with("torch.ops.")) target.remove_prefix(10);
  return OnOneLine(node.name + " (" + std::string(target) + ")");
}

// Appends the arguments that are not lists: `argument` itself, or the items of
// nested lists.
void Names(const Argument& argument, std::vector<const Argument*>& names) {
  if (argument.kind != Argument::Kind::kList) {
    names.push_back(&argument);
    return;
  }
  for (const Argument& item : argument.items) Names(item, names);
}
void Items(const Value& value, int depth, std::vector<Value>& items) {
  if (!value.is_sequence() || depth > 8) {
    items.push_back(value);
    return;
  }
  for (const Value& item : value.list->items) Items(item, depth + 1, items);
}

// True if a row of the operator has a parameter of this name. Old files do not
// state how an argument is passed; it is then passed by name if this is true.
bool HasParameter(const std::string& op, std::string_view name) {
  for (const torchscript::TableEntry& entry : torchscript::FindOperator(op))
    for (const torchscript::SchemaParameter& parameter :
         entry.schema.parameters)
      if (parameter.name == name) return true;
  return false;
}

}  // namespace

void GraphImporter::FailNode(const std::string& message) {
  machine_.FailInvalid(message);
}

Value GraphImporter::Known(const Argument& argument) {
  return ValueOf(argument, {});
}

Value GraphImporter::ValueOf(const Argument& argument, const Scope& scope) {
  switch (argument.kind) {
    case Argument::Kind::kNone:
      return Value::None();
    case Argument::Kind::kTensor:
    case Argument::Kind::kSymbol: {
      const auto found = scope.find(argument.text);
      if (found != scope.end()) return found->second;
      machine_.FailInvalid("expected a value that the graph has, found '" +
                           OnOneLine(argument.text) + "'");
      return {};
    }
    case Argument::Kind::kInteger:
    case Argument::Kind::kScalarType:
    case Argument::Kind::kOption:
      return Value::Int(ops::Dim(argument.integer));
    case Argument::Kind::kFloat:
      return Value::Float(argument.number);
    case Argument::Kind::kBool:
      return Value::Bool(argument.integer != 0);
    case Argument::Kind::kText:
      return Value::Text(Kind::kString, argument.text);
    case Argument::Kind::kDevice:
      return Value::Text(Kind::kDevice, argument.text);
    case Argument::Kind::kList: {
      std::vector<Value> items;
      for (const Argument& item : argument.items)
        items.push_back(ValueOf(item, scope));
      return machine_.NewList(std::move(items));
    }
    case Argument::Kind::kGraph:
    case Argument::Kind::kOther:
      break;
  }
  return Value::Text(Kind::kConflict, argument.kind == Argument::Kind::kGraph
                                          ? "a graph"
                                          : "an argument '" +
                                                OnOneLine(argument.text) +
                                                "', which is not supported");
}

void GraphImporter::Bind(const Node& node, const Value& result, Scope& scope) {
  if (!machine_.ok()) return;
  std::vector<const Argument*> names;
  for (const Argument& output : node.outputs) Names(output, names);
  std::vector<Value> items;
  Items(result, 0, items);
  if (names.size() > items.size()) {
    FailNode("expected at most " + std::to_string(items.size()) +
             " results, found " + std::to_string(names.size()));
    return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i]->kind != Argument::Kind::kTensor &&
        names[i]->kind != Argument::Kind::kSymbol)
      // A result that is absent or has a fixed value has no name, so it is not
      // stored.
      continue;
    Value value = items[i];
    // The node's result is declared as a tensor, but a row of the table may
    // return a known number if its operands are known. It becomes a tensor.
    if (names[i]->kind == Argument::Kind::kTensor && value.is_number())
      value = machine_.NewTensor(machine_.ToTensor(value));
    scope.insert_or_assign(names[i]->text, std::move(value));
  }
}

void GraphImporter::RunNode(const Node& node, Scope& scope) {
  const std::string origin = OriginOf(node);
  machine_.builder().SetOrigin(origin);
  if (HigherOrderOfTarget(node.target) != HigherOrder::kNone) {
    const Value result = RunHigherOrder(node, scope);
    machine_.builder().SetOrigin(origin);
    return Bind(node, result, scope);
  }
  const std::string op = OperatorOfTarget(node.target);
  std::vector<torchscript::Argument> arguments;
  for (const NamedArgument& input : node.inputs) {
    const bool by_name = input.passing == NamedArgument::Passing::kName ||
                         (input.passing == NamedArgument::Passing::kUnknown &&
                          HasParameter(op, input.name));
    arguments.push_back(
        {by_name ? input.name : "", ValueOf(input.value, scope)});
  }
  Bind(node, caller_.Call(op, arguments, origin), scope);
}

std::vector<Value> GraphImporter::Run(const Graph& graph,
                                      const std::vector<Value>& inputs) {
  if (!machine_.ok()) return {};
  if (inputs.size() != graph.inputs.size()) {
    FailNode("expected " + std::to_string(graph.inputs.size()) +
             " inputs of a graph, found " + std::to_string(inputs.size()));
    return {};
  }
  Scope scope;
  for (size_t i = 0; i < inputs.size(); ++i)
    scope.insert_or_assign(graph.inputs[i].text, inputs[i]);
  for (const Node& node : graph.nodes) {
    RunNode(node, scope);
    if (!machine_.ok()) return {};
  }
  std::vector<Value> outputs;
  for (const Argument& output : graph.outputs)
    outputs.push_back(ValueOf(output, scope));
  return outputs;
}

}  // namespace ember::torch_export

// Runs higher-order operators, which have graphs as arguments.
#include <utility>

#include "base/one_line.h"
#include "frontends/torch_export/graph_importer.h"
#include "frontends/torch_export/targets.h"
#include "frontends/torchscript/merging.h"

namespace ember::torch_export {
namespace {

using Kind = Value::Kind;

}  // namespace

const Graph* GraphImporter::GraphOf(const Node& node, size_t index) {
  if (index < node.inputs.size() && node.inputs[index].value.graph != nullptr)
    return node.inputs[index].value.graph.get();
  FailNode("expected a graph as argument " + std::to_string(index) +
           ", found none");
  return nullptr;
}

std::vector<Value> GraphImporter::ValuesOf(const Node& node, size_t index,
                                           const Scope& scope) {
  if (index >= node.inputs.size()) return {};
  const Value value = ValueOf(node.inputs[index].value, scope);
  if (!machine_.ok() || value.is_none()) return {};
  if (value.is_sequence()) return value.list->items;
  return {value};
}

std::vector<Value> GraphImporter::Copied(const std::vector<Value>& values) {
  std::vector<Value> copies;
  for (const Value& value : values) {
    copies.push_back(value.is_tensor()
                         ? machine_.NewTensor(machine_.Read(*value.cell))
                         : value);
  }
  return copies;
}

std::vector<graph::Value*> GraphImporter::Flat(
    const std::vector<Value>& values) {
  std::vector<graph::Value*> flat;
  for (const Value& value : values) {
    if (value.is_tensor()) {
      flat.push_back(machine_.Read(*value.cell).value());
    } else if (value.is_number()) {
      flat.push_back(ops::Cast(machine_.ToScalar(value),
                               torchscript::ScalarDType(value.kind))
                         .value());
    } else {
      machine_.FailUnsupported(
          "expected tensors and numbers to be carried by a loop, found " +
          OnOneLine(Describe(value)));
      flat.push_back(nullptr);
    }
  }
  return flat;
}

std::vector<Value> GraphImporter::Like(const std::vector<Value>& patterns,
                                       const std::vector<graph::Value*>& flat) {
  std::vector<Value> values;
  for (size_t i = 0; i < patterns.size() && i < flat.size(); ++i) {
    const ops::Tensor tensor(&machine_.builder(), flat[i]);
    values.push_back(patterns[i].is_number()
                         ? Value::Dynamic(patterns[i].kind, tensor)
                         : machine_.NewTensor(tensor));
  }
  return values;
}

graph::LoopOutputs GraphImporter::Ended(graph::Region& region,
                                        graph::LoopOutputs out) {
  if (!machine_.ok()) {
    // After an error in the body its outputs are incomplete, so the loop must
    // fail instead of using them.
    region.builder().Fail(machine_.status());
    out = {};
  }
  machine_.Leave();
  return out;
}

Value GraphImporter::Invoke(const Node& node, size_t before,
                            const Scope& scope) {
  const Graph* graph = GraphOf(node, before);
  std::vector<Value> inputs;
  for (size_t i = before + 1; i < node.inputs.size(); ++i) {
    const Value value = ValueOf(node.inputs[i].value, scope);
    // An argument after the graph may be an identifier (a text), which is
    // skipped, or a list of operands.
    if (value.is(Kind::kString)) continue;
    if (value.is_sequence())
      inputs.insert(inputs.end(), value.list->items.begin(),
                    value.list->items.end());
    else
      inputs.push_back(value);
  }
  if (!machine_.ok()) return {};
  return machine_.NewTuple(Run(*graph, inputs));
}

Value GraphImporter::Cond(const Node& node, const Scope& scope) {
  const Graph* then = GraphOf(node, 1);
  const Graph* otherwise = GraphOf(node, 2);
  if (!machine_.ok()) return {};
  const Value given = ValueOf(node.inputs[0].value, scope);
  const std::vector<Value> operands = ValuesOf(node, 3, scope);
  if (!machine_.ok()) return {};
  const std::string origin = machine_.builder().origin();
  const Value condition =
      given.is(Kind::kBool) ? given
                            : caller_.Call("aten::Bool", {{"", given}}, origin);
  if (!machine_.ok()) return {};
  if (condition.is_known_number()) {
    return machine_.NewTuple(
        Run(condition.known_number() != 0 ? *then : *otherwise, operands));
  }
  graph::IfRegions regions(machine_.builder());
  const auto build = [&](graph::Region& region, const Graph& graph) {
    machine_.Enter(region);
    std::vector<Value> results = Copied(Run(graph, Copied(operands)));
    machine_.Leave();
    return results;
  };
  const std::vector<Value> of_then = build(regions.then(), *then);
  if (!machine_.ok()) return {};
  const std::vector<Value> of_else = build(regions.otherwise(), *otherwise);
  if (!machine_.ok()) return {};
  if (of_then.size() != of_else.size()) {
    FailNode("expected as many results of both branches, found " +
             std::to_string(of_then.size()) + " and " +
             std::to_string(of_else.size()));
    return {};
  }
  torchscript::Merge merge;
  for (size_t i = 0; i < of_then.size(); ++i)
    merge.Add(of_then[i], of_else[i], node.name, machine_);
  machine_.Enter(regions.then());
  const std::vector<graph::Value*> then_outputs = merge.ThenOutputs(machine_);
  machine_.Leave();
  machine_.Enter(regions.otherwise());
  const std::vector<graph::Value*> else_outputs = merge.ElseOutputs(machine_);
  machine_.Leave();
  if (!machine_.ok()) return {};
  machine_.builder().SetOrigin(origin);
  const std::vector<graph::Value*> results = regions.Build(
      machine_.Inside(condition.dynamic).value(), then_outputs, else_outputs);
  if (!machine_.ok()) return {};
  return machine_.NewTuple(merge.Rebuild(results, machine_));
}

Value GraphImporter::While(const Node& node, const Scope& scope) {
  const Graph* condition = GraphOf(node, 0);
  const Graph* body = GraphOf(node, 1);
  const std::vector<Value> carried = ValuesOf(node, 2, scope);
  const std::vector<Value> others = ValuesOf(node, 3, scope);
  if (!machine_.ok()) return {};
  const std::string origin = machine_.builder().origin();
  const auto proceeds = [&](std::vector<Value> values) -> graph::Value* {
    values.insert(values.end(), others.begin(), others.end());
    const std::vector<Value> results = Run(*condition, Copied(values));
    if (!machine_.ok()) return nullptr;
    if (results.size() != 1) {
      FailNode("expected one result of the condition, found " +
               std::to_string(results.size()));
      return nullptr;
    }
    const Value truth = caller_.Call("aten::Bool", {{"", results[0]}}, origin);
    return machine_.ok() ? machine_.ToScalar(truth).value() : nullptr;
  };
  graph::LoopRequest request;
  request.carried = Flat(carried);
  request.conditional = true;
  // Numbers among the carried values change in the loop, so the condition must
  // not compute with their initial values. It gets them as scalars of the
  // graph.
  request.condition = proceeds(Like(carried, request.carried));
  if (!machine_.ok()) return {};
  const std::vector<graph::Value*> results = graph::BuildLoop(
      machine_.builder(), request,
      [&](graph::Region& region, const graph::LoopInputs& in) {
        graph::LoopOutputs out;
        machine_.Enter(region);
        std::vector<Value> values = Like(carried, in.carried);
        values.insert(values.end(), others.begin(), others.end());
        std::vector<Value> next = Run(*body, Copied(values));
        if (machine_.ok() && next.size() != carried.size()) {
          FailNode("expected " + std::to_string(carried.size()) +
                   " results of the body, found " +
                   std::to_string(next.size()));
        }
        if (machine_.ok()) {
          out.carried = Flat(next);
          out.proceed = proceeds(std::move(next));
        }
        return Ended(region, std::move(out));
      });
  if (!machine_.ok()) return {};
  machine_.builder().SetOrigin(origin);
  return machine_.NewTuple(Like(carried, results));
}

Value GraphImporter::Map(const Node& node, const Scope& scope) {
  const Graph* body = GraphOf(node, 0);
  const std::vector<Value> items = ValuesOf(node, 1, scope);
  const std::vector<Value> others = ValuesOf(node, 2, scope);
  if (!machine_.ok()) return {};
  return ScanOver(*body, {}, items, others);
}

Value GraphImporter::Scan(const Node& node, const Scope& scope) {
  const Graph* body = GraphOf(node, 0);
  const std::vector<Value> carried = ValuesOf(node, 1, scope);
  const std::vector<Value> items = ValuesOf(node, 2, scope);
  // PyTorch 2.6 passes an axis and a direction after the items; only the first
  // axis and the forward direction (both 0) are supported.
  std::vector<Value> others;
  for (size_t i = 3; i < node.inputs.size(); ++i) {
    const Value value = ValueOf(node.inputs[i].value, scope);
    if (value.is_number() && !value.is_dynamic()) {
      if (value.known_number() != 0) {
        machine_.FailUnsupported(
            "expected a scan forwards along the first axis, found another");
      }
      continue;
    }
    for (const Value& other : ValuesOf(node, i, scope)) others.push_back(other);
  }
  if (!machine_.ok()) return {};
  return ScanOver(*body, carried, items, others);
}

Value GraphImporter::ScanOver(const Graph& body,
                              const std::vector<Value>& carried,
                              const std::vector<Value>& items,
                              const std::vector<Value>& others) {
  const std::string origin = machine_.builder().origin();
  graph::LoopRequest request;
  request.carried = Flat(carried);
  request.scanned = Flat(items);
  if (!machine_.ok()) return {};
  for (const graph::Value* value : request.scanned) {
    if (!value->shape().empty()) continue;
    FailNode(
        "expected tensors with an axis to take slices of, found one "
        "without dims");
    return {};
  }
  if (items.empty()) {
    FailNode("expected tensors to take slices of, found none");
    return {};
  }
  request.trip = request.scanned[0]->shape()[0];
  const std::vector<graph::Value*> results = graph::BuildLoop(
      machine_.builder(), request,
      [&](graph::Region& region, const graph::LoopInputs& in) {
        graph::LoopOutputs out;
        machine_.Enter(region);
        std::vector<Value> values = Like(carried, in.carried);
        for (const Value& item : Like(items, in.scanned))
          values.push_back(item);
        values.insert(values.end(), others.begin(), others.end());
        const std::vector<Value> next = Run(body, Copied(values));
        if (machine_.ok() && next.size() < carried.size()) {
          FailNode("expected at least " + std::to_string(carried.size()) +
                   " results of the body, found " +
                   std::to_string(next.size()));
        }
        if (machine_.ok()) {
          const auto split =
              next.begin() + static_cast<std::ptrdiff_t>(carried.size());
          out.carried = Flat({next.begin(), split});
          out.stacked = Flat({split, next.end()});
        }
        return Ended(region, std::move(out));
      });
  if (!machine_.ok()) return {};
  machine_.builder().SetOrigin(origin);
  std::vector<Value> values = Like(carried, results);
  for (size_t i = carried.size(); i < results.size(); ++i) {
    values.push_back(
        machine_.NewTensor(ops::Tensor(&machine_.builder(), results[i])));
  }
  return machine_.NewTuple(std::move(values));
}

Value GraphImporter::RunHigherOrder(const Node& node, const Scope& scope) {
  switch (HigherOrderOfTarget(node.target)) {
    case HigherOrder::kCond:
      return Cond(node, scope);
    case HigherOrder::kWhile:
      return While(node, scope);
    case HigherOrder::kMap:
      return Map(node, scope);
    case HigherOrder::kScan:
      return Scan(node, scope);
    case HigherOrder::kInvoke:
      return Invoke(node, 0, scope);
    case HigherOrder::kWrapWithSetGrad:  // (enabled, graph, …)
      return Invoke(node, 1, scope);
    case HigherOrder::kWrapWithAutocast: {
      // The arguments are (device, dtype, enabled, caches, graph, …). If
      // autocast is enabled, casts would have to be added that the graph does
      // not contain, so only disabled ones are supported.
      const Value enabled = node.inputs.size() > 2
                                ? ValueOf(node.inputs[2].value, scope)
                                : Value::None();
      if (!enabled.is_known_number() || enabled.known_number() != 0) {
        machine_.FailUnsupported(
            "autocast: expected a graph for which it is disabled, found one "
            "for which it is enabled");
      }
      return Invoke(node, 4, scope);
    }
    case HigherOrder::kNone:
      break;
  }
  return {};
}

}  // namespace ember::torch_export

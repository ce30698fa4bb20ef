#include "frontends/torchscript/merging.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Returns a tensor that has the shape and element type of a value. The contents
// may be out of date, as writes change neither shape nor type. A weight that
// has not been read yet is read.
Tensor TypeOf(const Value& value, Machine& machine) {
  const Tensor& last = value.cell->value;
  return last.value() != nullptr ? last : machine.Read(*value.cell);
}

}  // namespace

Value NewOptional(Machine& machine, const std::string& text, const Value& value,
                  const Value& is_none) {
  Value made = Value::Text(Kind::kConflict, text);
  made.list = machine.NewList({value, is_none}).list;
  return made;
}

std::optional<OptionalValue> OptionalParts(const Value& value) {
  if (!value.is(Kind::kConflict) || value.list == nullptr ||
      value.list->items.size() != 2)
    return std::nullopt;
  return OptionalValue{value.list->items[0], value.list->items[1]};
}

DType ScalarDType(Kind kind) {
  if (kind == Kind::kBool) return DType::kBool;
  return kind == Kind::kFloat ? DType::kF64 : DType::kI64;
}

Merge::Node Merge::PlanOutput(const Value& then, const Value& otherwise,
                              Kind kind, DType dtype) {
  Node node;
  node.output = static_cast<int>(outputs_.size());
  outputs_.push_back({then, otherwise, dtype, kind == Kind::kTensor, kind, {}});
  return node;
}

bool Merge::IsMerged(const Node& node) {
  if (node.output >= 0) return true;
  if (node.parts.empty())
    return !node.value.is(Kind::kConflict) &&
           !node.value.is(Kind::kUninitialized);
  return std::ranges::all_of(node.parts, &Merge::IsMerged);
}

Merge::Node Merge::Plan(const Value& then, const Value& otherwise,
                        const std::string& name, Machine& machine, int depth) {
  Node node;
  if (IsSame(then, otherwise)) {
    node.value = then;
    return node;
  }
  const auto conflict = [&] {
    node.value = Value::Text(
        Kind::kConflict,
        "'" + OnOneLine(name) + "', which is " + OnOneLine(Describe(then)) +
            " or " + OnOneLine(Describe(otherwise)) + ", as the run decides");
    return node;
  };
  if (depth > kMaxListDepth || !machine.Charge(1)) return conflict();
  // If a value may be None in one branch, the merged value has two parts: the
  // other value, and a bool that says if it is None. Where it is None, the
  // other value is arbitrary, so it counts as uninitialized.
  const std::optional<OptionalValue> optionals[2] = {OptionalParts(then),
                                                     OptionalParts(otherwise)};
  if (then.is_none() || otherwise.is_none() || optionals[0] || optionals[1]) {
    const auto parts_of = [](const Value& value,
                             const std::optional<OptionalValue>& optional) {
      if (optional) return *optional;
      OptionalValue parts{value, Value::Bool(value.is_none())};
      if (value.is_none()) parts.value.kind = Kind::kUninitialized;
      return parts;
    };
    const OptionalValue a = parts_of(then, optionals[0]);
    const OptionalValue b = parts_of(otherwise, optionals[1]);
    const size_t outputs = outputs_.size();
    Node value = Plan(a.value, b.value, name, machine, depth + 1);
    if (!IsMerged(value)) {
      outputs_.resize(outputs);
      return conflict();
    }
    conflict();
    node.is_optional = true;
    node.parts.push_back(std::move(value));
    node.parts.push_back(
        PlanOutput(a.is_none, b.is_none, Kind::kBool, DType::kBool));
    return node;
  }
  // A value that is uninitialized in one branch is read on no path through it.
  // So that branch may return any value of the other one's type.
  for (const bool is_then : {true, false}) {
    const Value& given = is_then ? otherwise : then;
    if (!(is_then ? then : otherwise).is(Kind::kUninitialized)) continue;
    if (given.is_number())
      return PlanOutput(then, otherwise, given.kind, ScalarDType(given.kind));
    if (given.is_complex() || given.is_quantized()) return conflict();
    const Tensor type = given.is_tensor() ? TypeOf(given, machine) : Tensor();
    if (type.value() != nullptr && graph::IsConstant(type.shape())) {
      Node made = PlanOutput(then, otherwise, Kind::kTensor, type.dtype());
      outputs_.back().fill = type.shape();
      return made;
    }
    if (!given.is_sequence()) return conflict();
    Value nothing;
    nothing.kind = Kind::kUninitialized;
    node.value = given;
    for (const Value& item : given.list->items) {
      node.parts.push_back(is_then
                               ? Plan(nothing, item, name, machine, depth + 1)
                               : Plan(item, nothing, name, machine, depth + 1));
    }
    return node;
  }
  if (then.is_number() && otherwise.is_number()) {
    Kind kind = then.kind;
    if (otherwise.kind != kind) kind = Kind::kFloat;
    return PlanOutput(then, otherwise, kind, ScalarDType(kind));
  }
  // A region returns plain tensors only, so complex and quantized ones cannot
  // be merged.
  for (const Value* value : {&then, &otherwise})
    if (value->is_complex() || value->is_quantized()) return conflict();
  if (then.is_tensor() && otherwise.is_tensor()) {
    const Tensor a = TypeOf(then, machine);
    const Tensor b = TypeOf(otherwise, machine);
    if (a.value() == nullptr || b.value() == nullptr) return conflict();
    if (a.dtype() != b.dtype() || a.rank() != b.rank()) {
      other_type_ = name;
      return conflict();
    }
    return PlanOutput(then, otherwise, Kind::kTensor, a.dtype());
  }
  if (then.is_sequence() && then.kind == otherwise.kind &&
      then.list->items.size() == otherwise.list->items.size()) {
    node.value = then;
    for (size_t i = 0; i < then.list->items.size(); ++i) {
      node.parts.push_back(Plan(then.list->items[i], otherwise.list->items[i],
                                name, machine, depth + 1));
    }
    return node;
  }
  return conflict();
}

void Merge::Add(const Value& then, const Value& otherwise,
                const std::string& name, Machine& machine) {
  nodes_.push_back(Plan(then, otherwise, name, machine, 0));
}

std::vector<graph::Value*> Merge::Outputs(Machine& machine, bool then) const {
  std::vector<graph::Value*> values;
  for (const Output& output : outputs_) {
    const Value& value = then ? output.then : output.otherwise;
    Tensor tensor;
    if (value.is(Kind::kUninitialized)) {
      tensor = {&machine.builder(), machine.builder().Scalar(0, output.dtype)};
      if (!output.fill.empty()) tensor = ops::Broadcast(tensor, output.fill);
    } else if (output.is_tensor) {
      tensor = machine.Read(*value.cell);
    } else {
      tensor = ops::Cast(machine.ToScalar(value), output.dtype);
    }
    values.push_back(tensor.value());
  }
  return values;
}

std::vector<graph::Value*> Merge::ThenOutputs(Machine& machine) const {
  return Outputs(machine, true);
}
std::vector<graph::Value*> Merge::ElseOutputs(Machine& machine) const {
  return Outputs(machine, false);
}

Value Merge::RebuildNode(const Node& node,
                         const std::vector<graph::Value*>& results,
                         const std::vector<Output>& outputs, Machine& machine) {
  if (node.output >= 0) {
    const auto at = static_cast<size_t>(node.output);
    if (at >= results.size()) return {};
    const Tensor tensor(&machine.builder(), results[at]);
    if (outputs[at].is_tensor) return machine.NewTensor(tensor);
    return Value::Dynamic(outputs[at].kind, tensor);
  }
  if (node.parts.empty()) return node.value;
  std::vector<Value> items;
  for (const Node& part : node.parts)
    items.push_back(RebuildNode(part, results, outputs, machine));
  if (node.is_optional)
    return NewOptional(machine, node.value.text, items[0], items[1]);
  Value made = node.value.is(Kind::kTuple) ? machine.NewTuple(std::move(items))
                                           : machine.NewList(std::move(items));
  made.list->fields = node.value.list->fields;
  return made;
}

std::vector<Value> Merge::Rebuild(const std::vector<graph::Value*>& results,
                                  Machine& machine) const {
  std::vector<Value> values;
  for (const Node& node : nodes_)
    values.push_back(RebuildNode(node, results, outputs_, machine));
  return values;
}

}  // namespace ember::torchscript

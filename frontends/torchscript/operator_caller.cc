#include "frontends/torchscript/operator_caller.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/complex_values.h"
#include "frontends/torchscript/quantized_values.h"

namespace ember::torchscript {
namespace {

// True if the second argument is a traced constant that the operator takes as a
// number: x + 1.5 is f32 for a tensor x of integers, although the constant is
// an f64 tensor.
bool TakesTracedNumber(std::string_view name,
                       const std::vector<Argument>& arguments) {
  const Argument& other = arguments[1];
  if (!other.value.is_tensor() || !other.value.cell->is_traced_number ||
      !arguments[0].value.is_tensor() ||
      (!other.keyword.empty() && other.keyword != "other"))
    return false;
  if (name.ends_with('_')) name.remove_suffix(1);
  // Calls of aten::div with a rounding mode are left out, as they treat the
  // constant as a tensor.
  return name == "aten::add" || name == "aten::sub" || name == "aten::mul" ||
         (name == "aten::div" && arguments.size() == 2);
}

// True if the operator `name` with a final '_' changes only the shape of its
// tensor in place and moves no element in memory.
bool ChangesShape(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "aten::as_strided", "aten::squeeze",   "aten::swapaxes", "aten::swapdims",
      "aten::t",          "aten::transpose", "aten::unsqueeze"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

Value OperatorCaller::Call(const std::string& name,
                           const std::vector<Argument>& arguments,
                           const std::string& origin) {
  if (!machine_.ok()) return {};
  if (arguments.size() > 1 && TakesTracedNumber(name, arguments)) {
    const std::optional<Value> number = NumberOf(arguments[1].value);
    if (!machine_.ok()) return {};
    if (number) {
      std::vector<Argument> others = arguments;
      others[1].value = *number;
      return Call(name, others, origin);
    }
  }
  machine_.builder().SetOrigin(origin);
  if (options_.steps != nullptr) {
    const Status told = options_.steps->Begin(machine_.builder().origin());
    if (!told.ok()) {
      machine_.Fail(told);
      return {};
    }
  }
  for (const Argument& argument : arguments) {
    if (argument.value.is(Value::Kind::kConflict)) {
      machine_.FailUnsupported("expected one kind of value, found " +
                               argument.value.text);
      return {};
    }
  }
  if (!arguments.empty() && arguments.back().keyword == "out" &&
      !FindOperator(name).empty())
    return CallInto(name, arguments, origin);
  if (HasQuantized(arguments)) {
    const std::optional<Value> result = CallOnQuantized(
        machine_, name, arguments,
        [&](const std::string& op, const std::vector<Argument>& others) {
          return Call(op, others, origin);
        });
    if (result) return *result;
  }
  if (HasComplex(arguments)) {
    const std::optional<Value> result = CallOnComplex(
        machine_, name, arguments,
        [&](const std::string& op, const std::vector<Argument>& others) {
          return Call(op, others, origin);
        });
    if (result) return *result;
  }
  // The names that are looked up in the table: op_ itself first, then op, whose
  // result is written to x.
  std::vector<std::string> names = {name};
  if (name.ends_with('_') && !name.ends_with("__"))
    names.push_back(name.substr(0, name.size() - 1));
  const OperatorRow* refused = nullptr;
  bool is_known = false;
  for (const std::string& one : names) {
    for (const TableEntry& entry : FindOperator(one)) {
      is_known = true;
      if (!entry.row->is_supported()) refused = entry.row;
      std::optional<std::vector<Value>> values =
          BindArguments(entry.schema, arguments);
      if (!values) continue;
      if (!entry.row->is_supported()) {
        FailUnknown(name, entry.row->reason);
        return {};
      }
      if (one == name || !(*values)[0].is_tensor())
        return RunRow(entry, *std::move(values));
      const Value target = (*values)[0];
      const Value result = RunRow(entry, *std::move(values));
      if (!ChangesShape(one)) return WriteBack(target, result);
      if (machine_.ok() && result.is_tensor())
        machine_.BecomeView(*target.cell, *result.cell);
      return target;
    }
  }
  if (!is_known || refused != nullptr)
    FailUnknown(name, refused == nullptr ? "" : refused->reason);
  else
    FailArguments(names.back(), arguments);
  return {};
}

std::optional<Value> OperatorCaller::NumberOf(const Value& constant) {
  const Tensor scalar = machine_.Read(*constant.cell);
  if (!machine_.ok() || scalar.rank() != 0) return std::nullopt;
  const Tensor& known = constant.cell->value;
  if (scalar.dtype() == DType::kI64) {
    const auto integers = known.builder().IntegerContents(known.value());
    if (!integers || integers->size() != 1) return std::nullopt;
    return Value::Int(integers->front());
  }
  const auto numbers = known.builder().ConstantContents(known.value());
  if (!numbers || numbers->size() != 1) return std::nullopt;
  if (scalar.is_float()) return Value::Float(numbers->front());
  Value number = Value::Int(Dim(static_cast<int64_t>(numbers->front())));
  if (scalar.dtype() == DType::kBool) number.kind = Value::Kind::kBool;
  return number;
}

// Calls op(…, out=y): writes the result of op to y, in y's type. The shape of y
// becomes the result's, as in PyTorch.
Value OperatorCaller::CallInto(const std::string& name,
                               std::vector<Argument> arguments,
                               const std::string& origin) {
  const Value target = arguments.back().value;
  arguments.pop_back();
  const Value result = Call(name, arguments, origin);
  if (!machine_.ok()) return {};
  if (!target.is_tensor() || !result.is_tensor()) {
    machine_.FailUnsupported(
        "expected a tensor as the result to write to out, "
        "found " +
        Describe(result.is_tensor() ? target : result));
    return {};
  }
  const Tensor before = machine_.Read(*target.cell);
  const Tensor after = machine_.Read(*result.cell);
  if (!machine_.ok()) return {};
  if (target.cell->base != nullptr && before.shape() != after.shape()) {
    machine_.FailUnsupported("out: expected a view of the result's shape " +
                             graph::ShapeToString(after.shape()) + ", found " +
                             graph::ShapeToString(before.shape()));
    return {};
  }
  machine_.Write(*target.cell, ops::Cast(after, before.dtype()));
  return target;
}

Value OperatorCaller::RunRow(const TableEntry& entry,
                             std::vector<Value> values) {
  torchscript::Call call(machine_, entry.schema, std::move(values),
                         options_.version);
  if (entry.row->value != nullptr) return entry.row->value(call);
  const Tensor result = entry.row->tensor(call);
  if (machine_.ok() && !result) {
    machine_.FailInvalid("expected a result, found none");
  }
  return machine_.NewTensor(result);
}

// Ends a call x.op_(…) that was made as op: writes the result to x, in x's type
// and shape.
Value OperatorCaller::WriteBack(const Value& target, const Value& result) {
  if (!machine_.ok()) return {};
  if (!result.is_tensor()) {
    machine_.FailUnsupported(
        "expected an operator with a tensor as its result to write in place, "
        "found " +
        Describe(result));
    return {};
  }
  if (result.cell == target.cell) return target;
  if (result.is_complex() != target.is_complex()) {
    machine_.FailUnsupported("expected a result of the operand's kind, " +
                             Describe(target) + ", to write in place, found " +
                             Describe(result));
    return {};
  }
  const Tensor before = machine_.Read(*target.cell);
  Tensor after = machine_.Read(*result.cell);
  if (!machine_.ok()) return {};
  if (after.rank() > before.rank()) {
    machine_.FailUnsupported("expected a result of the operand's shape " +
                             graph::ShapeToString(before.shape()) +
                             " to write in place, found " +
                             graph::ShapeToString(after.shape()));
    return {};
  }
  after = ops::Broadcast(ops::Cast(after, before.dtype()), before.shape());
  machine_.Write(*target.cell, after);
  return target;
}

void OperatorCaller::FailUnknown(const std::string& name,
                                 std::string_view reason) {
  if (!machine_.ok()) return;
  machine_.Fail(UnimplementedError(
      "unsupported operators: " + OnOneLine(name) + " (node '" +
      machine_.builder().origin() + "'" +
      (reason.empty() ? "" : "; " + std::string(reason)) + ")"));
  unknown_ = name;
}

void OperatorCaller::FailArguments(const std::string& name,
                                   const std::vector<Argument>& arguments) {
  std::string found;
  for (const Argument& argument : arguments) {
    found += (found.empty() ? "" : ", ") +
             (argument.keyword.empty() ? "" : argument.keyword + "=") +
             Describe(argument.value);
  }
  std::string expected;
  for (const TableEntry& entry : FindOperator(name))
    expected +=
        (expected.empty() ? "" : " or ") + std::string(entry.row->schema);
  machine_.FailUnsupported("expected " + expected + ", found (" +
                           OnOneLine(found) + ")");
}

bool IsSupportedOperator(const std::string& name, std::string_view* reason) {
  for (const TableEntry& entry : FindOperator(name)) {
    if (entry.row->is_supported()) return true;
    if (reason != nullptr) *reason = entry.row->reason;
  }
  if (!name.ends_with('_') || name.ends_with("__")) return false;
  return IsSupportedOperator(name.substr(0, name.size() - 1), reason);
}

}  // namespace ember::torchscript

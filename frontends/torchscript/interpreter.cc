#include "frontends/torchscript/interpreter.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter_level.h"

namespace ember::torchscript {

Value Interpreter::CallMethod(Object& object, std::string_view name,
                              std::vector<Value> arguments) {
  const Function* method = nullptr;
  if (object.type != nullptr) {
    const auto found = object.type->methods.find(name);
    if (found != object.type->methods.end()) method = &found->second;
  }
  if (method == nullptr) {
    machine_.FailInvalid("expected a method '" + OnOneLine(name) +
                         "' of class " + OnOneLine(object.class_name) +
                         ", found none");
    return {};
  }
  std::vector<Argument> all(1);
  all[0].value.kind = Kind::kObject;
  all[0].value.object = &object;
  for (Value& argument : arguments) all.push_back({"", std::move(argument)});
  return CallFunction(*method, object.path, all);
}

Value Interpreter::Standard(const Expression& expression) {
  Frame frame;
  return Evaluate(expression, frame);
}

Value Interpreter::CallFunction(const Function& function,
                                const std::string& where,
                                const std::vector<Argument>& arguments) {
  const Level level(*this);
  if (!level.ok()) return {};
  if (calls_ >= kMostCalls) {
    machine_.FailUnsupported("expected at most " + std::to_string(kMostCalls) +
                             " calls within calls");
    return {};
  }
  Frame frame;
  frame.where = where;
  size_t next = 0;
  for (const Argument& argument : arguments) {
    const Parameter* parameter = nullptr;
    if (argument.keyword.empty()) {
      if (next < function.parameters.size())
        parameter = &function.parameters[next++];
    } else {
      for (const Parameter& one : function.parameters)
        if (one.name == argument.keyword) parameter = &one;
    }
    if (parameter == nullptr ||
        !frame.variables.emplace(parameter->name, argument.value).second) {
      machine_.FailInvalid(
          "call of " + OnOneLine(function.name) + ": expected " +
          std::to_string(function.parameters.size()) + " arguments, found " +
          (argument.keyword.empty()
               ? "more"
               : "one for '" + OnOneLine(argument.keyword) + "'"));
      return {};
    }
  }
  for (const Parameter& parameter : function.parameters) {
    if (frame.variables.contains(parameter.name)) continue;
    if (!parameter.standard) {
      machine_.FailInvalid("call of " + OnOneLine(function.name) +
                           ": expected an argument '" +
                           OnOneLine(parameter.name) + "', found none");
      return {};
    }
    frame.variables[parameter.name] = Evaluate(*parameter.standard, frame);
  }
  ++calls_;
  const std::string before = std::exchange(where_, where);
  const int line = line_;
  Execute(function.body, frame);
  where_ = before;
  line_ = line;
  --calls_;
  return frame.result;
}

Value Interpreter::CallOperator(const std::string& name,
                                const std::vector<Argument>& arguments) {
  if (!machine_.ok()) return {};
  const size_t colon = name.rfind(':');
  machine_.builder().SetOrigin(OnOneLine(
      where_ + (where_.empty() ? "line " : ", line ") + std::to_string(line_) +
      " (" + name.substr(colon == std::string::npos ? 0 : colon + 1) + ")"));
  if (options_.steps != nullptr) {
    const Status told = options_.steps->Begin(machine_.builder().origin());
    if (!told.ok()) {
      machine_.Fail(told);
      return {};
    }
  }
  for (const Argument& argument : arguments) {
    if (argument.value.is(Kind::kConflict)) {
      machine_.FailUnsupported("expected one kind of value, found " +
                               argument.value.text);
      return {};
    }
  }
  // As it is called, or else, for x.op_(), what op gives, written to x.
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
      return WriteBack(target, RunRow(entry, *std::move(values)));
    }
  }
  if (!is_known || refused != nullptr)
    FailUnknown(name, refused == nullptr ? "" : refused->reason);
  else
    FailArguments(names.back(), arguments);
  return {};
}

Value Interpreter::RunRow(const TableEntry& entry, std::vector<Value> values) {
  Call call(machine_, entry.schema, std::move(values), options_.version);
  if (entry.row->value != nullptr) return entry.row->value(call);
  const Tensor result = entry.row->tensor(call);
  if (machine_.ok() && !result) {
    machine_.FailInvalid("expected a result, found none");
  }
  return machine_.NewTensor(result);
}

// x.op_(…): the result takes the place of what x holds, in its type and shape.
Value Interpreter::WriteBack(const Value& target, const Value& result) {
  if (!machine_.ok()) return {};
  if (!result.is_tensor()) {
    machine_.FailUnsupported(
        "expected an operator with a tensor as its result to write in place, "
        "found " +
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

void Interpreter::FailUnknown(const std::string& name,
                              std::string_view reason) {
  if (!machine_.ok()) return;
  machine_.Fail(UnimplementedError(
      "unsupported operators: " + OnOneLine(name) + " (node '" +
      machine_.builder().origin() + "'" +
      (reason.empty() ? "" : "; " + std::string(reason)) + ")"));
  unknown_ = name;
}

void Interpreter::FailArguments(const std::string& name,
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

}  // namespace ember::torchscript

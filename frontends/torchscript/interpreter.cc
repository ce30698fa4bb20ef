#include "frontends/torchscript/interpreter.h"

#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter_level.h"
#include "frontends/torchscript/merging.h"

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
  if (calls_ >= kMaxCalls) {
    machine_.FailUnsupported("expected at most " + std::to_string(kMaxCalls) +
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
  // A value of which only the run knows if it is None can be compared with
  // None; the result is the bool that it carries.
  const bool is_same = name == "aten::__is__";
  if ((is_same || name == "aten::__isnot__") && arguments.size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      const auto optional = OptionalParts(arguments[i].value);
      if (!optional || !arguments[1 - i].value.is_none()) continue;
      return is_same ? optional->is_none
                     : CallOperator("aten::__not__", {{"", optional->is_none}});
    }
  }
  const size_t colon = name.rfind(':');
  return caller_.Call(
      name, arguments,
      OnOneLine(where_ + (where_.empty() ? "line " : ", line ") +
                std::to_string(line_) + " (" +
                name.substr(colon == std::string::npos ? 0 : colon + 1) + ")"));
}

}  // namespace ember::torchscript

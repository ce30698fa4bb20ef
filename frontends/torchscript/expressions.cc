// Evaluates the expressions of a model's code.
#include <cmath>
#include <utility>

#include "base/one_line.h"
#include "frontends/ops/compositions.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/interpreter_level.h"
#include "frontends/torchscript/merging.h"

namespace ember::torchscript {
namespace {

using ExpressionKind = Expression::Kind;

// Returns the name of the operator that an operator sign of the code calls,
// such as aten::add for +; "" if it calls none.
std::string OperatorOf(std::string_view sign) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"+", "add"},       {"-", "sub"},       {"*", "mul"},
      {"/", "div"},       {"//", "floordiv"}, {"%", "remainder"},
      {"@", "matmul"},    {"==", "eq"},       {"!=", "ne"},
      {"<", "lt"},        {"<=", "le"},       {">", "gt"},
      {">=", "ge"},       {"is", "__is__"},   {"is not", "__isnot__"},
      {"&", "__and__"},   {"|", "__or__"},    {"^", "__xor__"},
      {"and", "__and__"}, {"or", "__or__"}};
  for (const auto& [text, name] : kNames)
    if (text == sign) return "aten::" + std::string(name);
  return "";
}

}  // namespace

Value Interpreter::Evaluate(const Expression& expression, Frame& frame) {
  const Level level(*this);
  if (!level.ok() || !CountStep()) return {};
  if (expression.line > 0) line_ = expression.line;
  switch (expression.kind) {
    case ExpressionKind::kNone:
      return Value::None();
    case ExpressionKind::kBool:
      return Value::Bool(expression.integer != 0);
    case ExpressionKind::kInteger:
      return Value::Int(Dim(expression.integer));
    case ExpressionKind::kFloat:
      return Value::Float(expression.number);
    case ExpressionKind::kString:
      return Value::Text(Kind::kString, expression.text);
    case ExpressionKind::kList:
    case ExpressionKind::kTuple: {
      std::vector<Value> items;
      for (const Expression& part : expression.parts)
        items.push_back(Evaluate(part, frame));
      return expression.kind == ExpressionKind::kList
                 ? machine_.NewList(std::move(items))
                 : machine_.NewTuple(std::move(items));
    }
    case ExpressionKind::kDict: {
      const Value dict = machine_.NewDict();
      for (size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
        Value key = Evaluate(expression.parts[i], frame);
        dict.dict->items.emplace_back(std::move(key),
                                      Evaluate(expression.parts[i + 1], frame));
      }
      return dict;
    }
    case ExpressionKind::kName:
      return EvaluateName(expression, frame);
    case ExpressionKind::kAttribute:
      return EvaluateAttribute(expression, frame);
    case ExpressionKind::kSubscript:
      return EvaluateSubscript(expression, frame);
    case ExpressionKind::kCall:
      return EvaluateCall(expression, frame);
    case ExpressionKind::kUnary: {
      const Value operand = Evaluate(expression.parts[0], frame);
      return CallOperator(
          expression.text == "-" ? "aten::neg" : "aten::__not__",
          {{"", operand}});
    }
    case ExpressionKind::kBinary:
      return EvaluateBinary(expression, frame);
    case ExpressionKind::kConditional: {
      const Value condition = Truth(Evaluate(expression.parts[1], frame));
      if (!machine_.ok()) return {};
      if (condition.is_known_number())
        return Evaluate(expression.parts[condition.known_number() != 0 ? 0 : 2],
                        frame);
      machine_.FailUnsupported(
          "a conditional expression whose condition only the run knows is not "
          "supported");
      return {};
    }
    case ExpressionKind::kSlice:
      break;
  }
  machine_.FailUnsupported("line " + std::to_string(line_) +
                           ": expected a value, found a slice");
  return {};
}

Value Interpreter::EvaluateBinary(const Expression& expression, Frame& frame) {
  Value left = Evaluate(expression.parts[0], frame);
  if (expression.text == "and" || expression.text == "or") {
    const Value known = Truth(left);
    // The right side of `and` and `or` is evaluated only if the left side does
    // not decide the result.
    if (known.is_known_number() &&
        (known.known_number() != 0) == (expression.text == "or"))
      return known;
  }
  Value right = Evaluate(expression.parts[1], frame);
  return CallOperator(OperatorOf(expression.text),
                      {{"", std::move(left)}, {"", std::move(right)}});
}

Value Interpreter::EvaluateName(const Expression& expression, Frame& frame) {
  const auto found = frame.variables.find(expression.text);
  if (found != frame.variables.end()) return found->second;
  machine_.FailInvalid("line " + std::to_string(line_) +
                       ": expected a variable, found '" +
                       OnOneLine(expression.text) + "', which has no value");
  return {};
}

std::string Interpreter::QualifiedName(const Expression& expression,
                                       const Frame& frame) const {
  const Expression* root = &expression;
  while (root->kind == ExpressionKind::kAttribute) root = &root->parts[0];
  if (root->kind != ExpressionKind::kName || root == &expression ||
      frame.variables.contains(root->text) ||
      (root->text != "torch" && root->text != "ops" &&
       root->text != "__torch__" && root->text != "CONSTANTS"))
    return "";
  return TypeText(expression);
}

Value Interpreter::EvaluateAttribute(const Expression& expression,
                                     Frame& frame) {
  const std::string qualified = QualifiedName(expression, frame);
  if (qualified.empty())
    return Attribute(Evaluate(expression.parts[0], frame), expression.text);
  if (!qualified.starts_with("CONSTANTS.c"))
    return Value::Text(Kind::kFunction, qualified);
  size_t number = 0;
  for (const char c : qualified.substr(11)) {
    if (c < '0' || c > '9' || number > options_.constants.size()) {
      number = options_.constants.size();
      break;
    }
    number = number * 10 + static_cast<size_t>(c - '0');
  }
  if (number >= options_.constants.size()) {
    machine_.FailInvalid("expected one of " +
                         std::to_string(options_.constants.size()) +
                         " constants, found '" + OnOneLine(qualified) + "'");
    return {};
  }
  return options_.constants[number];
}

Value Interpreter::Attribute(const Value& value, const std::string& name) {
  if (!machine_.ok()) return {};
  if (value.is(Kind::kObject)) {
    const auto found = value.object->attributes.find(name);
    if (found != value.object->attributes.end()) {
      if (!value.object->replaced.contains(name))
        value.object->read.insert(name);
      return found->second;
    }
    if (value.object->type != nullptr) {
      for (const Class::Attribute& one : value.object->type->attributes)
        if (one.name == name && one.value) return Standard(*one.value);
    }
  }
  if (value.is(Kind::kTuple) && value.list->fields != nullptr) {
    const auto& fields = value.list->fields->attributes;
    for (size_t i = 0; i < fields.size() && i < value.list->items.size(); ++i)
      if (fields[i].name == name) return value.list->items[i];
  }
  // Newer archives call prim::shape where older ones have x.shape, so an
  // attribute of a tensor is looked up as an operator of the namespace prim.
  if (value.is_tensor()) {
    const std::string prim = "prim::" + name;
    if (!FindOperator(prim).empty()) return CallOperator(prim, {{"", value}});
  }
  machine_.FailInvalid("expected an object with an attribute '" +
                       OnOneLine(name) + "', found " +
                       OnOneLine(Describe(value)));
  return {};
}

Value Interpreter::EvaluateSubscript(const Expression& expression,
                                     Frame& frame) {
  Value base = Evaluate(expression.parts[0], frame);
  const Expression& index = expression.parts[1];
  if (index.kind != ExpressionKind::kSlice) {
    Value at = Evaluate(index, frame);
    return CallOperator("aten::__getitem__",
                        {{"", std::move(base)}, {"", std::move(at)}});
  }
  std::vector<Argument> arguments = {{"", std::move(base)}};
  if (arguments[0].value.is_tensor())
    arguments.push_back({"", Value::Int(Dim(0))});
  for (size_t i = 0; i < 3; ++i) {
    Value part = Evaluate(index.parts[i], frame);
    if (i == 2 && part.is_none()) part = Value::Int(Dim(1));
    arguments.push_back({"", std::move(part)});
  }
  return CallOperator("aten::slice", arguments);
}

std::vector<Argument> Interpreter::Arguments(const Expression& call,
                                             Frame& frame) {
  std::vector<Argument> arguments;
  const size_t positional = call.parts.size() - call.keywords.size();
  for (size_t i = 1; i < call.parts.size(); ++i) {
    arguments.push_back({i < positional ? "" : call.keywords[i - positional],
                         Evaluate(call.parts[i], frame)});
    if (!machine_.ok() || raised_) break;
  }
  return arguments;
}

// Converts a tensor or number if `type` is int, float or bool, as int(x) and
// annotate(int, x) do; returns other values unchanged.
Value Interpreter::Convert(const Value& value, const Expression& type) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"int", "aten::Int"}, {"float", "aten::Float"}, {"bool", "aten::Bool"}};
  for (const auto& [name, op] : kNames) {
    if (type.is_name(name) && (value.is_tensor() || value.is_number()))
      return CallOperator(std::string(op), {{"", value}});
  }
  return value;
}

std::optional<Value> Interpreter::CallBuiltin(const Expression& call,
                                              Frame& frame) {
  const std::string& name = call.parts[0].text;
  const size_t count = call.parts.size() - 1;
  if ((name == "annotate" || name == "unchecked_cast") && count == 2) {
    Value value = Evaluate(call.parts[2], frame);
    // The code calls unchecked_cast where it has tested that a value is not
    // None, so the value loses its possibility of being None.
    if (name == "unchecked_cast")
      if (const auto optional = OptionalParts(value)) value = optional->value;
    return value.is_tensor() ? Convert(value, call.parts[1]) : value;
  }
  if (name == "uninitialized") {
    Value value;
    value.kind = Kind::kUninitialized;
    return value;
  }
  if (name == "getattr" && count == 2 &&
      call.parts[2].kind == ExpressionKind::kString)
    return Attribute(Evaluate(call.parts[1], frame), call.parts[2].text);
  if (name == "hasattr" && count == 2) {
    const Value object = Evaluate(call.parts[1], frame);
    return Value::Bool(object.is(Kind::kObject) &&
                       object.object->attributes.contains(call.parts[2].text));
  }
  if (name == "isinstance" && count == 2) {
    return CallOperator(
        "prim::isinstance",
        {{"", Evaluate(call.parts[1], frame)},
         {"", Value::Text(Kind::kString, TypeText(call.parts[2]))}});
  }
  // A forked function runs at once instead of in a thread. So the result of
  // fork is what wait would return.
  if (name == "fork" && count == 1 &&
      call.parts[1].kind == ExpressionKind::kName) {
    const auto closure = frame.closures.find(call.parts[1].text);
    if (closure != frame.closures.end())
      return CallClosure(*closure->second, frame);
  }
  static constexpr std::pair<std::string_view, std::string_view> kOperators[] =
      {{"int", "aten::Int"},   {"float", "aten::Float"},
       {"bool", "aten::Bool"}, {"str", "aten::str"},
       {"len", "aten::len"},   {"print", "prim::Print"},
       {"min", "prim::min"},   {"max", "prim::max"},
       {"abs", "prim::abs"},   {"list", "aten::list"},
       {"ord", "aten::ord"},   {"fork", "prim::fork"}};
  for (const auto& [text, op] : kOperators) {
    if (name == text && !frame.variables.contains(name))
      return CallOperator(std::string(op), Arguments(call, frame));
  }
  return std::nullopt;
}

Value Interpreter::CallClosure(const Statement& definition,
                               const Frame& frame) {
  const Level level(*this);
  if (!level.ok()) return {};
  // The frame of the inner function is a copy of the enclosing one. So the
  // inner function reads the outer variables, and its own are not visible
  // outside.
  Frame inner = frame;
  inner.result = Value::None();
  inner.returned = false;
  Execute(definition.body, inner);
  return inner.result;
}

Value Interpreter::CallNamed(const std::string& name,
                             const std::vector<Argument>& arguments) {
  if (name.starts_with("torch.ops."))
    return CallNamed(name.substr(6), arguments);
  if (name.starts_with("torch.")) {
    if (name == "torch.device")
      return arguments.empty()
                 ? Value::Text(Kind::kDevice, "cpu")
                 : Value::Text(Kind::kDevice, arguments[0].value.text);
    const size_t dot = name.rfind('.');
    return CallOperator("aten::" + name.substr(dot + 1), arguments);
  }
  if (name.starts_with("ops.")) {
    const size_t dot = name.rfind('.');
    if (dot > 4)
      return CallOperator(name.substr(4, dot - 4) + "::" + name.substr(dot + 1),
                          arguments);
  }
  // The name may be that of a function of the model's own code.
  const StatusOr<const Function*> function = code_.FindFunction(name);
  if (!function.ok()) {
    machine_.Fail(function.status());
    return {};
  }
  if (*function != nullptr) return CallFunction(**function, where_, arguments);
  std::string class_name = name;
  const bool is_new = class_name.ends_with(".__new__");
  if (is_new) class_name.resize(class_name.size() - 8);
  const StatusOr<const Class*> type = code_.FindClass(class_name);
  if (!type.ok()) {
    machine_.Fail(type.status());
    return {};
  }
  if (*type == nullptr) {
    machine_.FailInvalid(
        "expected a function or class of the archive, found '" +
        OnOneLine(name) + "'");
    return {};
  }
  if ((*type)->base == "NamedTuple") {
    std::vector<Value> items;
    for (const Argument& argument : arguments) items.push_back(argument.value);
    Value tuple = machine_.NewTuple(std::move(items));
    tuple.list->fields = *type;
    return tuple;
  }
  Value made;
  made.kind = Kind::kObject;
  made.object = &machine_.NewObject(class_name);
  made.object->type = *type;
  made.object->path = where_;
  if (!is_new && (*type)->methods.contains("__init__")) {
    std::vector<Argument> all = {{"", made}};
    all.insert(all.end(), arguments.begin(), arguments.end());
    CallFunction((*type)->methods.find("__init__")->second, where_, all);
  }
  return made;
}

std::optional<Value> Interpreter::CallMember(const Expression& call,
                                             Frame& frame) {
  const Expression& callee = call.parts[0];
  const Value base = Evaluate(callee.parts[0], frame);
  if (!machine_.ok()) return Value::None();
  if (base.is(Kind::kObject) && base.object->type != nullptr) {
    const auto method = base.object->type->methods.find(callee.text);
    if (method != base.object->type->methods.end()) {
      std::vector<Argument> arguments = {{"", base}};
      for (Argument& argument : Arguments(call, frame))
        arguments.push_back(std::move(argument));
      if (!machine_.ok() || raised_) return Value::None();
      return CallFunction(method->second, base.object->path, arguments);
    }
  }
  // A method call on a tensor, container or text is the call of an operator:
  // x.add(y) is torch.add(x, y).
  if (base.is_tensor() || base.is_sequence() || base.is(Kind::kDict) ||
      base.is(Kind::kString)) {
    std::vector<Argument> arguments = {{"", base}};
    for (Argument& argument : Arguments(call, frame))
      arguments.push_back(std::move(argument));
    return CallOperator("aten::" + callee.text, arguments);
  }
  return std::nullopt;
}

Value Interpreter::EvaluateCall(const Expression& call, Frame& frame) {
  const Expression& callee = call.parts[0];
  std::string name;
  if (callee.kind == ExpressionKind::kName) {
    if (const std::optional<Value> result = CallBuiltin(call, frame))
      return *result;
    const Value function = EvaluateName(callee, frame);
    if (function.is(Kind::kFunction)) name = function.text;
  } else if (callee.kind == ExpressionKind::kAttribute) {
    name = QualifiedName(callee, frame);
    if (name.empty()) {
      if (const std::optional<Value> result = CallMember(call, frame))
        return *result;
    }
  }
  if (!machine_.ok()) return {};
  if (name.empty()) {
    machine_.FailInvalid("line " + std::to_string(line_) +
                         ": expected a function to call, found another value");
    return {};
  }
  const std::vector<Argument> arguments = Arguments(call, frame);
  if (!machine_.ok() || raised_) return {};
  line_ = call.line;
  if (name == "ops.prim.RaiseException") {
    raised_ = arguments.empty() || !arguments[0].value.is(Kind::kString)
                  ? "an exception of the model"
                  : arguments[0].value.text;
    if (raised_->empty()) raised_ = "an exception of the model";
    return {};
  }
  return CallNamed(name, arguments);
}

}  // namespace ember::torchscript

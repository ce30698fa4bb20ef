#include "llm/template/evaluator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/template/filters.h"
#include "llm/template/methods.h"
#include "llm/template/tests.h"
#include "llm/text/utf8.h"

namespace ember::llm {

namespace {

// Puts "line N: " before the message of an error, unless it begins with a line
// already.
Status AtLine(const Status& status, int line) {
  if (status.message().starts_with("line ")) return status;
  return status.WithContext(Concat({"line ", line}));
}

}  // namespace

size_t CharacterCount(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

Value UndefinedVariable(std::string_view name) {
  return Value::Undefined(
      Concat({"'", OnOneLine(Shortened(name, 80)), "' is undefined"}));
}

Evaluator::Evaluator(const TemplateLimits& limits) : limits_(limits) {
  globals_ = PushScope(nullptr);
  globals_->is_captured = true;
}

Evaluator::~Evaluator() {
  for (const auto& each : namespaces_) each->attributes.clear();
}

void Evaluator::SetGlobal(std::string_view name, Value value) {
  globals_->variables.insert_or_assign(std::string(name), std::move(value));
}

StatusOr<std::string> Evaluator::Run(const Statements& statements) {
  std::string output;
  EMBER_RETURN_IF_ERROR(Execute(statements, globals_, &output).status());
  return output;
}

Status Evaluator::ChargeSteps(uint64_t steps) {
  steps_ += steps;
  if (steps_ <= limits_.steps) return OkStatus();
  return ResourceExhaustedError(
      Concat({"expected at most ", limits_.steps, " steps, found more"}));
}

Status Evaluator::ChargeBytes(uint64_t bytes) {
  if (bytes > limits_.bytes || bytes_ + bytes > limits_.bytes) {
    return ResourceExhaustedError(Concat(
        {"expected values of at most ", limits_.bytes, " bytes, found more"}));
  }
  bytes_ += bytes;
  return OkStatus();
}

StatusOr<Value> Evaluator::MakeText(std::string text) {
  EMBER_RETURN_IF_ERROR(ChargeBytes(text.size()));
  return Value(std::move(text));
}

StatusOr<Value> Evaluator::MakeList(Value::Items items) {
  EMBER_RETURN_IF_ERROR(ChargeBytes(items.size() * sizeof(Value)));
  return Value::List(std::move(items));
}

StatusOr<Value> Evaluator::MakeTuple(Value::Items items) {
  EMBER_RETURN_IF_ERROR(ChargeBytes(items.size() * sizeof(Value)));
  return Value::Tuple(std::move(items));
}

StatusOr<Value> Evaluator::MakeDict(Dict dict) {
  // The charge includes the index of a Dict, which has a copy of each key.
  EMBER_RETURN_IF_ERROR(ChargeBytes(dict.size() * 4 * sizeof(Value)));
  for (const auto& [key, value] : dict.entries()) {
    EMBER_RETURN_IF_ERROR(ChargeBytes(key.Weight()));
  }
  return Value::OfDict(std::move(dict));
}

StatusOr<std::string> Evaluator::TextOf(const Value& value) {
  EMBER_RETURN_IF_ERROR(CheckValue(value));
  EMBER_RETURN_IF_ERROR(ChargeBytes(value.Weight()));
  return value.ToText();
}

StatusOr<std::string> Evaluator::ReprOf(const Value& value) {
  EMBER_RETURN_IF_ERROR(CheckValue(value));
  EMBER_RETURN_IF_ERROR(ChargeBytes(value.Weight()));
  return value.Repr();
}

StatusOr<bool> Evaluator::Equals(const Value& a, const Value& b) {
  EMBER_RETURN_IF_ERROR(ChargeSteps(std::min(a.Weight(), b.Weight()) / 16));
  return AreEqual(a, b);
}

Status Evaluator::CheckValue(const Value& value) const {
  if (value.Weight() > limits_.bytes) {
    return ResourceExhaustedError(
        Concat({"expected values of at most ", limits_.bytes,
                " bytes, found a larger one"}));
  }
  if (value.depth() > limits_.value_depth) {
    return ResourceExhaustedError(
        Concat({"expected at most ", limits_.value_depth,
                " nested values, found more"}));
  }
  return OkStatus();
}

Value Evaluator::MakeNamespace() {
  namespaces_.push_back(std::make_shared<Value::Namespace>());
  return Value::OfNamespace(namespaces_.back());
}

Status Evaluator::CheckDepth() const {
  if (depth_ <= limits_.depth) return OkStatus();
  return ResourceExhaustedError(
      Concat({"expected at most ", limits_.depth,
              " nested calls and expressions, found more"}));
}

Evaluator::Scope* Evaluator::PushScope(Scope* parent) {
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->parent = parent;
  return scopes_.back().get();
}

void Evaluator::PopScope(Scope* scope) {
  // A captured scope is kept until the end, because a macro refers to it. The
  // scopes around it are kept, too; they are below it on the stack.
  if (!scope->is_captured && scopes_.back().get() == scope) scopes_.pop_back();
}

const Value* Evaluator::Lookup(std::string_view name,
                               const Scope* scope) const {
  for (; scope != nullptr; scope = scope->parent) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) return &found->second;
  }
  return nullptr;
}

Status Evaluator::Write(std::string_view text, std::string* output) {
  if (output->size() + text.size() > limits_.output_bytes) {
    return ResourceExhaustedError(
        Concat({"expected an output of at most ", limits_.output_bytes,
                " bytes, found a longer one"}));
  }
  EMBER_RETURN_IF_ERROR(ChargeBytes(text.size()));
  *output += text;
  return OkStatus();
}

StatusOr<Evaluator::Flow> Evaluator::Execute(const Statements& statements,
                                             Scope* scope,
                                             std::string* output) {
  for (const Statement& statement : statements) {
    const Nested nested(this);
    Status status = CheckDepth();
    if (status.ok()) status = ChargeSteps(1);
    if (!status.ok()) return AtLine(status, statement.line);
    StatusOr<Flow> flow = ExecuteOne(statement, scope, output);
    if (!flow.ok()) return AtLine(flow.status(), statement.line);
    if (*flow != Flow::kNext) return *flow;
  }
  return Flow::kNext;
}

StatusOr<Evaluator::Flow> Evaluator::ExecuteOne(const Statement& statement,
                                                Scope* scope,
                                                std::string* output) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
    case Kind::kText:
      EMBER_RETURN_IF_ERROR(Write(statement.text, output));
      return Flow::kNext;
    case Kind::kOutput: {
      EMBER_ASSIGN_OR_RETURN(const Value value,
                             Evaluate(*statement.expressions[0], scope));
      EMBER_ASSIGN_OR_RETURN(const std::string text, TextOf(value));
      EMBER_RETURN_IF_ERROR(Write(text, output));
      return Flow::kNext;
    }
    case Kind::kIf:
      return ExecuteIf(statement, scope, output);
    case Kind::kFor:
      return ExecuteFor(statement, scope, output);
    case Kind::kSet: {
      EMBER_ASSIGN_OR_RETURN(const Value value,
                             Evaluate(*statement.expressions[0], scope));
      EMBER_RETURN_IF_ERROR(Assign(statement.targets, value, scope));
      return Flow::kNext;
    }
    case Kind::kSetBlock:
      EMBER_RETURN_IF_ERROR(ExecuteSetBlock(statement, scope));
      return Flow::kNext;
    case Kind::kMacro: {
      EMBER_ASSIGN_OR_RETURN(Value macro, MakeMacro(statement, scope));
      scope->variables.insert_or_assign(statement.text, std::move(macro));
      return Flow::kNext;
    }
    case Kind::kCallBlock:
      EMBER_RETURN_IF_ERROR(ExecuteCallBlock(statement, scope, output));
      return Flow::kNext;
    case Kind::kFilterBlock:
      EMBER_RETURN_IF_ERROR(ExecuteFilterBlock(statement, scope, output));
      return Flow::kNext;
    case Kind::kWith:
      return ExecuteWith(statement, scope, output);
    case Kind::kGroup:
      return Execute(statement.bodies[0], scope, output);
    case Kind::kBreak:
      return Flow::kBreak;
    case Kind::kContinue:
      return Flow::kContinue;
  }
  return InternalError("unknown statement");
}

StatusOr<Evaluator::Flow> Evaluator::ExecuteIf(const Statement& statement,
                                               Scope* scope,
                                               std::string* output) {
  for (size_t i = 0; i < statement.bodies.size(); ++i) {
    if (i < statement.expressions.size()) {
      EMBER_ASSIGN_OR_RETURN(const Value condition,
                             Evaluate(*statement.expressions[i], scope));
      if (!condition.IsTrue()) continue;
    }
    return Execute(statement.bodies[i], scope, output);
  }
  return Flow::kNext;
}

StatusOr<Evaluator::Flow> Evaluator::ExecuteFor(const Statement& statement,
                                                Scope* scope,
                                                std::string* output) {
  EMBER_ASSIGN_OR_RETURN(const Value items,
                         Evaluate(*statement.expressions[0], scope));
  EMBER_RETURN_IF_ERROR(RunLoop(statement, items, 0, scope, output));
  return Flow::kNext;
}

Status Evaluator::RunLoop(const Statement& statement, const Value& items,
                          int depth, Scope* scope, std::string* output) {
  EMBER_ASSIGN_OR_RETURN(Value::Items all, ItemsOf(items));
  const Expression* const filter = statement.expressions[1].get();
  if (filter != nullptr) {
    Value::Items chosen;
    for (const Value& item : all) {
      Scope* const inner = PushScope(scope);
      EMBER_RETURN_IF_ERROR(Assign(statement.targets, item, inner));
      EMBER_ASSIGN_OR_RETURN(const Value is_chosen, Evaluate(*filter, inner));
      if (is_chosen.IsTrue()) chosen.push_back(item);
      PopScope(inner);
    }
    all = std::move(chosen);
  }
  const auto loop = std::make_shared<Value::Loop>();
  const uint8_t item_depth = Value::List(all).depth();
  loop->items = std::make_shared<const Value::Items>(std::move(all));
  loop->depth = depth;
  if (statement.is_recursive) {
    EMBER_RETURN_IF_ERROR(ChargeBytes(sizeof(Scope)));
    Capture(scope);
    loop->recurse = [&statement, depth, scope](
                        Evaluator& self,
                        const Arguments& arguments) -> StatusOr<Value> {
      const Value* const inner = arguments.Find(0, "iterable");
      if (inner == nullptr) {
        return InvalidArgumentError("loop: expected the items of a call");
      }
      std::string text;
      EMBER_RETURN_IF_ERROR(
          self.RunLoop(statement, *inner, depth + 1, scope, &text));
      return self.MakeText(std::move(text));
    };
  }
  for (; loop->index < loop->items->size(); ++loop->index) {
    EMBER_RETURN_IF_ERROR(ChargeSteps(1));
    Scope* const inner = PushScope(scope);
    inner->variables.emplace("loop", Value::OfLoop(loop, item_depth));
    EMBER_RETURN_IF_ERROR(
        Assign(statement.targets, (*loop->items)[loop->index], inner));
    EMBER_ASSIGN_OR_RETURN(const Flow flow,
                           Execute(statement.bodies[0], inner, output));
    PopScope(inner);
    if (flow == Flow::kBreak) break;
  }
  if (loop->items->empty() && statement.bodies.size() > 1) {
    return Execute(statement.bodies[1], scope, output).status();
  }
  return OkStatus();
}

StatusOr<Value> Evaluator::FilteredBlock(const Statement& statement,
                                         Scope* scope) {
  Scope* const inner = PushScope(scope);
  std::string text;
  EMBER_RETURN_IF_ERROR(Execute(statement.bodies[0], inner, &text).status());
  inner->variables.insert_or_assign(std::string(kBlockInput),
                                    Value(std::move(text)));
  StatusOr<Value> result = Evaluate(*statement.expressions[0], inner);
  PopScope(inner);
  return result;
}

Status Evaluator::ExecuteSetBlock(const Statement& statement, Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value value, FilteredBlock(statement, scope));
  return Assign(statement.targets, value, scope);
}

Status Evaluator::ExecuteFilterBlock(const Statement& statement, Scope* scope,
                                     std::string* output) {
  EMBER_ASSIGN_OR_RETURN(const Value value, FilteredBlock(statement, scope));
  EMBER_ASSIGN_OR_RETURN(const std::string text, TextOf(value));
  return Write(text, output);
}

Status Evaluator::ExecuteCallBlock(const Statement& statement, Scope* scope,
                                   std::string* output) {
  const Expression& call = *statement.expressions[0];
  EMBER_ASSIGN_OR_RETURN(const Value function,
                         Evaluate(*call.children[0], scope));
  EMBER_ASSIGN_OR_RETURN(Arguments arguments, EvaluateArguments(call, scope));
  EMBER_ASSIGN_OR_RETURN(Value caller, MakeMacro(statement, scope));
  arguments.named.emplace_back("caller", std::move(caller));
  EMBER_ASSIGN_OR_RETURN(const Value value, Call(function, arguments));
  EMBER_ASSIGN_OR_RETURN(const std::string text, TextOf(value));
  return Write(text, output);
}

StatusOr<Evaluator::Flow> Evaluator::ExecuteWith(const Statement& statement,
                                                 Scope* scope,
                                                 std::string* output) {
  Scope* const inner = PushScope(scope);
  for (size_t i = 0; i < statement.targets.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(const Value value,
                           Evaluate(*statement.expressions[i], scope));
    EMBER_RETURN_IF_ERROR(AssignOne(statement.targets[i], value, inner));
  }
  StatusOr<Flow> flow = Execute(statement.bodies[0], inner, output);
  PopScope(inner);
  return flow;
}

Status Evaluator::Assign(const std::vector<AssignTarget>& targets,
                         const Value& value, Scope* scope) {
  if (targets.size() == 1) return AssignOne(targets[0], value, scope);
  EMBER_ASSIGN_OR_RETURN(const Value::Items items, ItemsOf(value));
  if (items.size() != targets.size()) {
    return InvalidArgumentError(
        Concat({"expected ", targets.size(), " values to assign, found ",
                items.size()}));
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    EMBER_RETURN_IF_ERROR(AssignOne(targets[i], items[i], scope));
  }
  return OkStatus();
}

Status Evaluator::AssignOne(const AssignTarget& target, const Value& value,
                            Scope* scope) {
  if (target.attribute.empty()) {
    scope->variables.insert_or_assign(target.name, value);
    return OkStatus();
  }
  const Value* const object = Lookup(target.name, scope);
  if (object == nullptr || object->kind() != Value::Kind::kNamespace) {
    return InvalidArgumentError(Concat(
        {"expected a namespace to set ", target.name, ".", target.attribute,
         ", found ", object == nullptr ? "nothing" : object->TypeName()}));
  }
  object->attributes().attributes.insert_or_assign(target.attribute, value);
  return OkStatus();
}

void Evaluator::Capture(Scope* scope) {
  for (; scope != nullptr && !scope->is_captured; scope = scope->parent) {
    scope->is_captured = true;
  }
}

StatusOr<Value> Evaluator::MakeMacro(const Statement& statement, Scope* scope) {
  // The macro captures its scope, which is then not freed before the end of the
  // run. So its memory is charged here.
  EMBER_RETURN_IF_ERROR(ChargeBytes(sizeof(Scope)));
  Capture(scope);
  return Value::OfFunction(
      [&statement, scope](Evaluator& self,
                          const Arguments& arguments) -> StatusOr<Value> {
        Scope* const inner = self.PushScope(scope);
        EMBER_RETURN_IF_ERROR(self.BindParameters(statement, arguments, inner));
        std::string text;
        EMBER_RETURN_IF_ERROR(
            self.Execute(statement.bodies.back(), inner, &text).status());
        self.PopScope(inner);
        return self.MakeText(std::move(text));
      });
}

Status Evaluator::BindParameters(const Statement& statement,
                                 const Arguments& arguments, Scope* scope) {
  const auto& parameters = statement.parameters;
  Value::Items rest;
  for (size_t i = parameters.size(); i < arguments.positional.size(); ++i) {
    rest.push_back(arguments.positional[i]);
  }
  Dict others;
  for (const auto& [name, value] : arguments.named) {
    const auto known = std::find_if(
        parameters.begin(), parameters.end(),
        [&name](const auto& parameter) { return parameter.first == name; });
    if (known != parameters.end()) continue;
    if (name == "caller") {
      scope->variables.insert_or_assign(name, value);
    } else {
      others.Set(Value(name), value);
    }
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, otherwise] = parameters[i];
    const Value* const found = arguments.Find(i, name);
    Value value = UndefinedVariable(name);
    if (found != nullptr) {
      value = *found;
    } else if (otherwise != nullptr) {
      EMBER_ASSIGN_OR_RETURN(value, Evaluate(*otherwise, scope));
    }
    scope->variables.insert_or_assign(name, std::move(value));
  }
  scope->variables.emplace("varargs", Value::Tuple(std::move(rest)));
  scope->variables.emplace("kwargs", Value::OfDict(std::move(others)));
  return OkStatus();
}

StatusOr<Value> Evaluator::Call(const Value& function,
                                const Arguments& arguments) {
  const Nested nested(this);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  EMBER_RETURN_IF_ERROR(ChargeSteps(1));
  if (function.kind() == Value::Kind::kFunction) {
    return function.function()(*this, arguments);
  }
  if (function.kind() == Value::Kind::kLoop && function.loop().recurse) {
    return function.loop().recurse(*this, arguments);
  }
  if (function.is_undefined()) {
    return InvalidArgumentError(function.why_undefined());
  }
  return InvalidArgumentError(
      Concat({"expected a function to call, found ", function.TypeName()}));
}

StatusOr<Value> Evaluator::ApplyFilter(std::string_view name,
                                       const Value& object,
                                       const Arguments& arguments) {
  const TemplateFilter filter = FindFilter(name);
  if (filter == nullptr) {
    return InvalidArgumentError(
        Concat({"expected a known filter, found '", name, "'"}));
  }
  EMBER_RETURN_IF_ERROR(ChargeSteps(1));
  return filter(*this, object, arguments);
}

StatusOr<bool> Evaluator::ApplyTest(std::string_view name, const Value& object,
                                    const Arguments& arguments) {
  const TemplateTest test = FindTest(name);
  if (test == nullptr) {
    return InvalidArgumentError(
        Concat({"expected a known test, found '", name, "'"}));
  }
  EMBER_RETURN_IF_ERROR(ChargeSteps(1));
  return test(*this, object, arguments);
}

}  // namespace ember::llm

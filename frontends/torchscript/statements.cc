// Executes the statements of a model's code during the import.
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/interpreter_level.h"

namespace ember::torchscript {

void Interpreter::Execute(const std::vector<Statement>& block, Frame& frame) {
  const Level level(*this);
  for (const Statement& statement : block) {
    if (!machine_.ok() || raised_ || frame.returned) return;
    Execute(statement, frame);
  }
}

bool Interpreter::CountStep() {
  if (++steps_ <= kMaxSteps) return true;
  machine_.Fail(ResourceExhaustedError(
      "code: expected at most " + std::to_string(kMaxSteps) +
      " statements and expressions with loops unrolled, found more"));
  return false;
}

void Interpreter::Execute(const Statement& statement, Frame& frame) {
  if (!CountStep()) return;
  line_ = statement.line;
  switch (statement.kind) {
    case Statement::Kind::kPass:
      return;
    case Statement::Kind::kExpression:
      Evaluate(statement.value, frame);
      return;
    case Statement::Kind::kAssign: {
      const Value value = Evaluate(statement.value, frame);
      if (machine_.ok() && !raised_) Assign(statement.targets[0], value, frame);
      return;
    }
    case Statement::Kind::kReturn:
      frame.result = Evaluate(statement.value, frame);
      frame.returned = true;
      return;
    case Statement::Kind::kRaise:
      raised_ = "an exception of the model";
      return;
    case Statement::Kind::kAssert: {
      const Value held = Truth(Evaluate(statement.value, frame));
      if (!machine_.ok()) return;
      if (held.is_dynamic())
        machine_.builder().Require(machine_.Inside(held.dynamic).value(),
                                   "an assertion of the model does not hold");
      else if (held.known_number() == 0)
        raised_ = "an assertion of the model does not hold";
      return;
    }
    case Statement::Kind::kWith:
      // TorchScript's contexts (no_grad and similar) do not change what a model
      // computes, so a with statement only executes its body.
      Evaluate(statement.value, frame);
      return Execute(statement.body, frame);
    case Statement::Kind::kDefine:
      frame.closures[statement.targets[0].text] = &statement;
      frame.variables[statement.targets[0].text] =
          Value::Text(Kind::kFunction, statement.targets[0].text);
      return;
    case Statement::Kind::kIf:
      return ExecuteIf(statement, frame);
    case Statement::Kind::kFor:
      return ExecuteFor(statement, frame);
    case Statement::Kind::kWhile:
      return ExecuteWhile(statement, frame);
  }
}

void Interpreter::Assign(const Expression& target, const Value& value,
                         Frame& frame) {
  switch (target.kind) {
    case Expression::Kind::kName:
      frame.variables[target.text] = value;
      return;
    case Expression::Kind::kTuple: {
      if (!value.is_sequence() ||
          value.list->items.size() != target.parts.size()) {
        machine_.FailInvalid("line " + std::to_string(line_) + ": expected " +
                             std::to_string(target.parts.size()) +
                             " values, found " + OnOneLine(Describe(value)));
        return;
      }
      const std::vector<Value> items = value.list->items;
      for (size_t i = 0; i < items.size(); ++i)
        if (machine_.ok()) Assign(target.parts[i], items[i], frame);
      return;
    }
    case Expression::Kind::kAttribute: {
      const Value object = Evaluate(target.parts[0], frame);
      if (!machine_.ok()) return;
      if (object.is(Kind::kObject)) {
        if (machine_.level() == 0 && !object.object->read.contains(target.text))
          object.object->replaced.insert(target.text);
        machine_.SetAttribute(*object.object, target.text, value);
        return;
      }
      break;
    }
    case Expression::Kind::kSubscript: {
      const Value base = Evaluate(target.parts[0], frame);
      const Value index = Evaluate(target.parts[1], frame);
      CallOperator("aten::_set_item", {{"", base}, {"", index}, {"", value}});
      return;
    }
    default:
      break;
  }
  machine_.FailInvalid("line " + std::to_string(line_) +
                       ": expected a variable or an attribute to assign to");
}

Value Interpreter::Truth(const Value& value) {
  if (!machine_.ok()) return Value::Bool(false);
  if (value.is(Kind::kBool)) return value;
  if (value.is_tensor() || value.is_number())
    return CallOperator("aten::Bool", {{"", value}});
  if (value.is_sequence()) return Value::Bool(!value.list->items.empty());
  if (value.is(Kind::kString)) return Value::Bool(!value.text.empty());
  machine_.FailUnsupported("line " + std::to_string(line_) +
                           ": expected a bool to decide by, found " +
                           OnOneLine(Describe(value)));
  return Value::Bool(false);
}

void Interpreter::ExecuteIf(const Statement& statement, Frame& frame) {
  const Value condition = Truth(Evaluate(statement.value, frame));
  if (!machine_.ok() || raised_) return;
  if (condition.is_known_number()) {
    return Execute(
        condition.known_number() != 0 ? statement.body : statement.otherwise,
        frame);
  }
  ExecuteBoth(condition, statement, frame);
}

void Interpreter::ExecuteFor(const Statement& statement, Frame& frame) {
  const Expression& over = statement.value;
  const bool is_range = over.kind == Expression::Kind::kCall &&
                        over.parts[0].is_name("range") &&
                        over.parts.size() == 2;
  Value count;
  Value sequence;
  if (is_range) {
    count = Evaluate(over.parts[1], frame);
  } else {
    sequence = Evaluate(over, frame);
    if (machine_.ok() && !sequence.is_sequence()) {
      machine_.FailUnsupported("line " + std::to_string(line_) +
                               ": expected a range or a list to loop over, "
                               "found " +
                               OnOneLine(Describe(sequence)));
    }
  }
  if (!machine_.ok()) return;
  if (is_range && !count.is(Kind::kInt)) {
    machine_.FailInvalid("line " + std::to_string(line_) +
                         ": expected an int of iterations, found " +
                         OnOneLine(Describe(count)));
    return;
  }
  if (is_range && !count.is_known_number())
    return ExecuteOpenLoop(statement, count, frame);
  for (int64_t i = 0; machine_.ok() && !raised_ && !frame.returned; ++i) {
    if (is_range) {
      if (i >= count.dim.constant()) return;
      Assign(statement.targets[0], Value::Int(Dim(i)), frame);
    } else {
      const std::vector<Value>& items = sequence.list->items;
      if (i >= static_cast<int64_t>(items.size())) return;
      Assign(statement.targets[0], items[static_cast<size_t>(i)], frame);
    }
    // Each iteration counts as a step, so that the limit also stops long loops
    // with an empty body.
    if (!CountStep()) return;
    Execute(statement.body, frame);
  }
}

void Interpreter::ExecuteWhile(const Statement& statement, Frame& frame) {
  while (machine_.ok() && !raised_ && !frame.returned) {
    const Value condition = Truth(Evaluate(statement.value, frame));
    if (!machine_.ok() || raised_) return;
    if (!condition.is_known_number())
      return ExecuteOpenLoop(statement, Value::None(), frame);
    if (condition.known_number() == 0) return;
    Execute(Statement{}, frame);  // counts an iteration
    Execute(statement.body, frame);
  }
}

}  // namespace ember::torchscript

// Implements the functions of Evaluator that evaluate expressions.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/template/evaluator.h"
#include "llm/template/methods.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using Kind = Expression::Kind;

Status UndefinedError(const Value& value) {
  return InvalidArgumentError(value.why_undefined());
}

// Returns an attribute of the variable "loop", or nothing if no attribute has
// this name.
std::optional<Value> LoopAttribute(const Value& object, std::string_view name) {
  const Value::Loop& loop = object.loop();
  const auto index = static_cast<int64_t>(loop.index);
  const auto count = static_cast<int64_t>(loop.items->size());
  const auto item = [&](int64_t at, std::string_view what) {
    return at >= 0 && at < count ? (*loop.items)[at] : Value::Undefined(what);
  };
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(count - index);
  if (name == "revindex0") return Value(count - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index == count - 1);
  if (name == "length") return Value(count);
  if (name == "depth") return Value(int64_t{loop.depth} + 1);
  if (name == "depth0") return Value(int64_t{loop.depth});
  if (name == "previtem")
    return item(index - 1, "the first item has no loop.previtem");
  if (name == "nextitem")
    return item(index + 1, "the last item has no loop.nextitem");
  if (name == "cycle") {
    return Value::OfFunction(
        [index](Evaluator&, const Arguments& arguments) -> StatusOr<Value> {
          const Value::Items& items = arguments.positional;
          if (items.empty()) {
            return InvalidArgumentError("loop.cycle: expected values");
          }
          return items[static_cast<size_t>(index) % items.size()];
        });
  }
  if (name == "changed") {
    return Value::OfFunction(
        [object](Evaluator& evaluator,
                 const Arguments& arguments) -> StatusOr<Value> {
          EMBER_ASSIGN_OR_RETURN(
              std::string printed,
              evaluator.ReprOf(Value::List(arguments.positional)));
          std::string& last = object.loop().last_changed;
          const bool is_changed = last != printed;
          last = std::move(printed);
          return Value(is_changed);
        },
        object.depth());
  }
  return std::nullopt;
}

// Converts Python's index, which may be negative, to the index of an item; -1
// if it is out of range.
int64_t ItemIndex(int64_t index, size_t count) {
  if (index < 0) index += static_cast<int64_t>(count);
  return index >= 0 && index < static_cast<int64_t>(count) ? index : -1;
}

}  // namespace

StatusOr<Value::Items> Evaluator::ItemsOf(const Value& value) {
  Value::Items items;
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return items;
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      EMBER_RETURN_IF_ERROR(ChargeBytes(value.items().size() * sizeof(Value)));
      return value.items();
    case Value::Kind::kDict:
      EMBER_RETURN_IF_ERROR(ChargeBytes(value.dict().size() * sizeof(Value)));
      for (const auto& entry : value.dict().entries()) {
        items.push_back(entry.first);
      }
      return items;
    case Value::Kind::kText: {
      // Each character becomes a text value of its own, which takes about 64
      // bytes more than a Value.
      EMBER_RETURN_IF_ERROR(
          ChargeBytes(value.text().size() * (sizeof(Value) + 64)));
      const std::string& text = value.text();
      for (size_t at = 0; at < text.size();) {
        const size_t size = Utf8At(text, at).size;
        items.emplace_back(text.substr(at, size));
        at += size;
      }
      return items;
    }
    default:
      return InvalidArgumentError(Concat(
          {"expected a value to iterate over, found ", value.TypeName()}));
  }
}

StatusOr<Value> Evaluator::Attribute(const Value& object,
                                     std::string_view name) {
  if (object.is_undefined()) return UndefinedError(object);
  if (object.kind() == Value::Kind::kLoop) {
    if (std::optional<Value> value = LoopAttribute(object, name)) {
      return *std::move(value);
    }
  }
  if (object.kind() == Value::Kind::kNamespace) {
    const auto& attributes = object.attributes().attributes;
    const auto found = attributes.find(name);
    if (found != attributes.end()) return found->second;
  }
  if (std::optional<Value> method = FindMethod(object, name)) {
    return *std::move(method);
  }
  if (object.is_dict()) {
    if (const Value* const value = object.dict().Find(name)) return *value;
  }
  return Value::Undefined(
      Concat({"a ", object.TypeName(), " has no attribute '",
              OnOneLine(Shortened(name, 80)), "'"}));
}

StatusOr<Value> Evaluator::Item(const Value& object, const Value& key) {
  if (object.is_undefined()) return UndefinedError(object);
  if (object.is_dict()) {
    if (const Value* const value = object.dict().Find(key)) return *value;
  }
  if (object.is_sequence() && key.is_integer()) {
    const int64_t index = ItemIndex(key.integer(), object.items().size());
    if (index >= 0) return object.items()[index];
  }
  if (object.is_text() && key.is_integer()) {
    EMBER_RETURN_IF_ERROR(ChargeSteps(object.text().size() / 64));
    const int64_t index =
        ItemIndex(key.integer(), CharacterCount(object.text()));
    const std::string& text = object.text();
    size_t at = 0;
    for (int64_t i = 0; i < index; ++i) at += Utf8At(text, at).size;
    if (index >= 0) {
      return MakeText(text.substr(at, Utf8At(text, at).size));
    }
  }
  if (key.is_text()) return Attribute(object, key.text());
  return Value::Undefined(
      Concat({"a ", object.TypeName(), " has no element ",
              key.is_number() ? key.Repr() : std::string(key.TypeName())}));
}

StatusOr<Value> Evaluator::Evaluate(const Expression& expression,
                                    Scope* scope) {
  const Nested nested(this);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  EMBER_RETURN_IF_ERROR(ChargeSteps(1));
  EMBER_ASSIGN_OR_RETURN(Value value, EvaluateKind(expression, scope));
  EMBER_RETURN_IF_ERROR(CheckValue(value));
  return value;
}

StatusOr<Value> Evaluator::EvaluateKind(const Expression& expression,
                                        Scope* scope) {
  switch (expression.kind) {
    case Kind::kConstant:
      return expression.value;
    case Kind::kName: {
      const Value* const value = Lookup(expression.name, scope);
      return value != nullptr ? *value : UndefinedVariable(expression.name);
    }
    case Kind::kList: {
      EMBER_ASSIGN_OR_RETURN(Value::Items items,
                             EvaluateAll(expression, scope));
      return MakeList(std::move(items));
    }
    case Kind::kTuple: {
      EMBER_ASSIGN_OR_RETURN(Value::Items items,
                             EvaluateAll(expression, scope));
      return MakeTuple(std::move(items));
    }
    case Kind::kDict:
      return EvaluateDict(expression, scope);
    case Kind::kUnary:
      return EvaluateUnary(expression, scope);
    case Kind::kBinary:
      return EvaluateBinary(expression, scope);
    case Kind::kAnd:
    case Kind::kOr: {
      EMBER_ASSIGN_OR_RETURN(Value left,
                             Evaluate(*expression.children[0], scope));
      if (left.IsTrue() == (expression.kind == Kind::kOr)) return left;
      return Evaluate(*expression.children[1], scope);
    }
    case Kind::kCompare:
      return EvaluateCompare(expression, scope);
    case Kind::kConcat:
      return EvaluateConcat(expression, scope);
    case Kind::kConditional:
      return EvaluateConditional(expression, scope);
    case Kind::kAttribute: {
      EMBER_ASSIGN_OR_RETURN(const Value object,
                             Evaluate(*expression.children[0], scope));
      return Attribute(object, expression.name);
    }
    case Kind::kItem: {
      EMBER_ASSIGN_OR_RETURN(const Value object,
                             Evaluate(*expression.children[0], scope));
      EMBER_ASSIGN_OR_RETURN(const Value key,
                             Evaluate(*expression.children[1], scope));
      return Item(object, key);
    }
    case Kind::kSlice:
      return EvaluateSlice(expression, scope);
    case Kind::kCall: {
      EMBER_ASSIGN_OR_RETURN(const Value function,
                             Evaluate(*expression.children[0], scope));
      EMBER_ASSIGN_OR_RETURN(const Arguments arguments,
                             EvaluateArguments(expression, scope));
      return Call(function, arguments);
    }
    case Kind::kFilter:
      return EvaluateFilter(expression, scope);
    case Kind::kTest:
      return EvaluateTest(expression, scope);
  }
  return InternalError("unknown expression");
}

StatusOr<Value::Items> Evaluator::EvaluateAll(const Expression& expression,
                                              Scope* scope) {
  Value::Items items;
  for (const ExpressionPointer& child : expression.children) {
    EMBER_ASSIGN_OR_RETURN(Value item, Evaluate(*child, scope));
    items.push_back(std::move(item));
  }
  return items;
}

StatusOr<Value> Evaluator::EvaluateDict(const Expression& expression,
                                        Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value::Items items,
                         EvaluateAll(expression, scope));
  Dict dict;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    dict.Set(items[i], items[i + 1]);
  }
  return MakeDict(std::move(dict));
}

StatusOr<Value> Evaluator::EvaluateUnary(const Expression& expression,
                                         Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value value,
                         Evaluate(*expression.children[0], scope));
  if (expression.name == "not") return Value(!value.IsTrue());
  if (value.is_undefined()) return UndefinedError(value);
  if (!value.is_number()) {
    return InvalidArgumentError(
        Concat({"expected a number behind ", expression.name, ", found ",
                value.TypeName()}));
  }
  if (expression.name == "+") return value;
  if (value.kind() == Value::Kind::kFloat) return Value(-value.number());
  return Compute("-", Value(int64_t{0}), value, *this);
}

StatusOr<Value> Evaluator::EvaluateBinary(const Expression& expression,
                                          Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value left,
                         Evaluate(*expression.children[0], scope));
  EMBER_ASSIGN_OR_RETURN(const Value right,
                         Evaluate(*expression.children[1], scope));
  if (left.is_undefined()) return UndefinedError(left);
  if (right.is_undefined()) return UndefinedError(right);
  return Compute(expression.name, left, right, *this);
}

StatusOr<bool> Evaluator::Contains(const Value& container, const Value& item) {
  if (container.is_text()) {
    if (!item.is_text()) {
      return InvalidArgumentError(
          Concat({"expected a text before 'in', found ", item.TypeName()}));
    }
    EMBER_RETURN_IF_ERROR(ChargeSteps(1 + container.text().size() / 16));
    return container.text().find(item.text()) != std::string::npos;
  }
  if (container.is_dict()) return container.dict().Find(item) != nullptr;
  if (container.is_sequence()) {
    EMBER_RETURN_IF_ERROR(
        ChargeSteps(container.items().size() + container.Weight() / 16));
    const Value::Items& items = container.items();
    return std::any_of(items.begin(), items.end(),
                       [&](const Value& each) { return AreEqual(each, item); });
  }
  if (container.is_undefined()) return false;
  return InvalidArgumentError(Concat(
      {"expected a container behind 'in', found ", container.TypeName()}));
}

StatusOr<Value> Evaluator::EvaluateCompare(const Expression& expression,
                                           Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(Value left, Evaluate(*expression.children[0], scope));
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    const std::string& operation = expression.operators[i];
    EMBER_ASSIGN_OR_RETURN(Value right,
                           Evaluate(*expression.children[i + 1], scope));
    bool holds = false;
    if (operation == "==") {
      EMBER_ASSIGN_OR_RETURN(holds, Equals(left, right));
    } else if (operation == "!=") {
      EMBER_ASSIGN_OR_RETURN(holds, Equals(left, right));
      holds = !holds;
    } else if (operation == "in") {
      EMBER_ASSIGN_OR_RETURN(holds, Contains(right, left));
    } else if (operation == "not in") {
      EMBER_ASSIGN_OR_RETURN(holds, Contains(right, left));
      holds = !holds;
    } else {
      if (left.is_undefined()) return UndefinedError(left);
      if (right.is_undefined()) return UndefinedError(right);
      const bool is_reversed = operation[0] == '>';
      const Value& a = is_reversed ? right : left;
      const Value& b = is_reversed ? left : right;
      EMBER_ASSIGN_OR_RETURN(const bool are_equal, Equals(a, b));
      EMBER_ASSIGN_OR_RETURN(holds, IsLess(a, b));
      holds = holds || (are_equal && operation.size() == 2);
    }
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

StatusOr<Value> Evaluator::EvaluateConcat(const Expression& expression,
                                          Scope* scope) {
  std::string text;
  for (const ExpressionPointer& child : expression.children) {
    EMBER_ASSIGN_OR_RETURN(const Value value, Evaluate(*child, scope));
    EMBER_ASSIGN_OR_RETURN(const std::string part, TextOf(value));
    text += part;
  }
  return MakeText(std::move(text));
}

StatusOr<Value> Evaluator::EvaluateConditional(const Expression& expression,
                                               Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value condition,
                         Evaluate(*expression.children[0], scope));
  if (condition.IsTrue()) return Evaluate(*expression.children[1], scope);
  if (expression.children.size() > 2) {
    return Evaluate(*expression.children[2], scope);
  }
  return Value::Undefined("the conditional has no else");
}

StatusOr<Value> Evaluator::EvaluateSlice(const Expression& expression,
                                         Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value object,
                         Evaluate(*expression.children[0], scope));
  std::optional<int64_t> bounds[3];
  for (int i = 0; i < 3; ++i) {
    const Expression* const part = expression.children[i + 1].get();
    if (part == nullptr) continue;
    EMBER_ASSIGN_OR_RETURN(const Value bound, Evaluate(*part, scope));
    if (bound.is_none()) continue;
    if (!bound.is_integer()) {
      return InvalidArgumentError(
          Concat({"expected integers in a slice, found ", bound.TypeName()}));
    }
    bounds[i] = bound.integer();
  }
  if (object.is_undefined()) return UndefinedError(object);
  if (!object.is_text() && !object.is_sequence()) {
    return InvalidArgumentError(Concat(
        {"expected a text or list to slice, found ", object.TypeName()}));
  }
  EMBER_ASSIGN_OR_RETURN(const Value::Items items, ItemsOf(object));
  const auto count = static_cast<int64_t>(items.size());
  const int64_t step = bounds[2].value_or(1);
  if (step == 0) {
    return InvalidArgumentError("expected a step of a slice, found 0");
  }
  const auto clamp = [&](int64_t bound) {
    if (bound < 0) bound = std::max<int64_t>(bound, -count) + count;
    return std::clamp<int64_t>(bound, 0, count);
  };
  int64_t begin = 0, end = 0;
  if (step > 0) {
    begin = clamp(bounds[0].value_or(0));
    end = clamp(bounds[1].value_or(count));
  } else {
    // A negative step goes backwards. The bounds are clamped to the last item
    // and to one before the first.
    const auto clamp_down = [&](int64_t bound) {
      if (bound < 0) bound = std::max<int64_t>(bound, -count - 1) + count;
      return std::clamp<int64_t>(bound, -1, count - 1);
    };
    begin = bounds[0] ? clamp_down(*bounds[0]) : count - 1;
    end = bounds[1] ? clamp_down(*bounds[1]) : -1;
  }
  Value::Items chosen;
  // A step larger than the number of items ends the loop at once. It is
  // clamped, so that `at` cannot overflow.
  const int64_t limited = std::clamp<int64_t>(step, -count - 1, count + 1);
  for (int64_t at = begin; step > 0 ? at < end : at > end; at += limited) {
    chosen.push_back(items[at]);
  }
  if (object.kind() == Value::Kind::kList) return MakeList(std::move(chosen));
  if (!object.is_text()) return MakeTuple(std::move(chosen));
  std::string text;
  for (const Value& character : chosen) text += character.text();
  return MakeText(std::move(text));
}

StatusOr<Arguments> Evaluator::EvaluateArguments(const Expression& expression,
                                                 Scope* scope) {
  Arguments arguments;
  for (size_t i = 0; i < expression.argument_names.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(Value value,
                           Evaluate(*expression.children[i + 1], scope));
    const std::string& name = expression.argument_names[i];
    if (name.empty()) {
      arguments.positional.push_back(std::move(value));
    } else if (name == "*") {
      EMBER_ASSIGN_OR_RETURN(const Value::Items items, ItemsOf(value));
      arguments.positional.insert(arguments.positional.end(), items.begin(),
                                  items.end());
    } else if (name == "**") {
      if (!value.is_dict()) {
        return InvalidArgumentError(
            Concat({"expected a dict behind **, found ", value.TypeName()}));
      }
      EMBER_RETURN_IF_ERROR(
          ChargeBytes(value.dict().size() * 3 * sizeof(Value)));
      for (const auto& [key, each] : value.dict().entries()) {
        arguments.named.emplace_back(key.ToText(), each);
      }
    } else {
      arguments.named.emplace_back(name, std::move(value));
    }
  }
  return arguments;
}

StatusOr<Value> Evaluator::EvaluateFilter(const Expression& expression,
                                          Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value object,
                         Evaluate(*expression.children[0], scope));
  EMBER_ASSIGN_OR_RETURN(const Arguments arguments,
                         EvaluateArguments(expression, scope));
  return ApplyFilter(expression.name, object, arguments);
}

StatusOr<Value> Evaluator::EvaluateTest(const Expression& expression,
                                        Scope* scope) {
  EMBER_ASSIGN_OR_RETURN(const Value object,
                         Evaluate(*expression.children[0], scope));
  EMBER_ASSIGN_OR_RETURN(const Arguments arguments,
                         EvaluateArguments(expression, scope));
  EMBER_ASSIGN_OR_RETURN(const bool holds,
                         ApplyTest(expression.name, object, arguments));
  return Value(holds);
}

}  // namespace ember::llm

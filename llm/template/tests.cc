#include "llm/template/tests.h"

#include <utility>

#include "base/concat.h"
#include "llm/template/evaluator.h"
#include "llm/template/filters.h"
#include "llm/text/unicode.h"

namespace ember::llm {
namespace {

using Kind = Value::Kind;
using Result = StatusOr<bool>;

Result IsUndefined(Evaluator&, const Value& object, const Arguments&) {
  return object.is_undefined();
}

template <Kind kKind>
Result IsKind(Evaluator&, const Value& object, const Arguments&) {
  return object.kind() == kKind;
}

Result IsDefined(Evaluator&, const Value& object, const Arguments&) {
  return !object.is_undefined();
}

Result IsNumber(Evaluator&, const Value& object, const Arguments&) {
  return object.is_number();
}

template <bool kValue>
Result IsBool(Evaluator&, const Value& object, const Arguments&) {
  return object.kind() == Kind::kBool && (object.integer() != 0) == kValue;
}

// Tests if a value has items and a length, which texts, lists, dicts and
// undefined values have.
Result IsSequence(Evaluator&, const Value& object, const Arguments&) {
  return object.is_text() || object.is_sequence() || object.is_dict() ||
         object.is_undefined();
}

Result IsCallable(Evaluator&, const Value& object, const Arguments&) {
  return object.kind() == Kind::kFunction || object.kind() == Kind::kLoop;
}

template <bool kOdd>
Result IsParity(Evaluator&, const Value& object, const Arguments&) {
  if (!object.is_integer()) {
    return InvalidArgumentError(
        Concat({"expected an integer before 'is even' or 'is odd', found ",
                object.TypeName()}));
  }
  return (object.integer() % 2 != 0) == kOdd;
}

Result IsDivisible(Evaluator&, const Value& object,
                   const Arguments& arguments) {
  const Value* const divisor = arguments.Find(0, "num");
  if (!object.is_integer() || divisor == nullptr || !divisor->is_integer() ||
      divisor->integer() == 0) {
    return InvalidArgumentError(
        "divisibleby: expected integers that are not 0");
  }
  return divisor->integer() == -1 || object.integer() % divisor->integer() == 0;
}

template <bool kUpper>
Result IsCase(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, evaluator.TextOf(object));
  const std::string mapped = kUpper ? Uppercase(text) : Lowercase(text);
  const std::string other = kUpper ? Lowercase(text) : Uppercase(text);
  return text == mapped && text != other;
}

StatusOr<const Value*> Operand(const Arguments& arguments) {
  const Value* const operand = arguments.Find(0, "other");
  if (operand == nullptr) {
    return InvalidArgumentError("expected a value to compare with");
  }
  return operand;
}

template <bool kEqual>
Result IsEqual(Evaluator& evaluator, const Value& object,
               const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Value* const other, Operand(arguments));
  EMBER_ASSIGN_OR_RETURN(const bool is_equal, evaluator.Equals(object, *other));
  return is_equal == kEqual;
}

// Implements the comparison tests: a < b, or b < a if kReversed, and their
// negations.
template <bool kReversed, bool kNegated>
Result IsOrdered(Evaluator&, const Value& object, const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Value* const other, Operand(arguments));
  EMBER_ASSIGN_OR_RETURN(const bool is_less, kReversed
                                                 ? IsLess(*other, object)
                                                 : IsLess(object, *other));
  return is_less != kNegated;
}

Result IsSame(Evaluator& evaluator, const Value& object,
              const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Value* const other, Operand(arguments));
  if (object.kind() != other->kind()) return false;
  return evaluator.Equals(object, *other);
}

Result IsIn(Evaluator& evaluator, const Value& object,
            const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Value* const container, Operand(arguments));
  return evaluator.Contains(*container, object);
}

Result IsFilter(Evaluator&, const Value& object, const Arguments&) {
  return object.is_text() && FindFilter(object.text()) != nullptr;
}

Result IsTest(Evaluator&, const Value& object, const Arguments&) {
  return object.is_text() && FindTest(object.text()) != nullptr;
}

struct Row {
  std::string_view name;
  TemplateTest test;
};

}  // namespace

TemplateTest FindTest(std::string_view name) {
  static constexpr Row kRows[] = {
      {"boolean", IsKind<Kind::kBool>},
      {"callable", IsCallable},
      {"defined", IsDefined},
      {"divisibleby", IsDivisible},
      {"eq", IsEqual<true>},
      {"equalto", IsEqual<true>},
      {"even", IsParity<false>},
      {"false", IsBool<false>},
      {"filter", IsFilter},
      {"float", IsKind<Kind::kFloat>},
      {"ge", IsOrdered<false, true>},
      {"greaterthan", IsOrdered<true, false>},
      {"gt", IsOrdered<true, false>},
      {"in", IsIn},
      {"integer", IsKind<Kind::kInteger>},
      {"iterable", IsSequence},
      {"le", IsOrdered<true, true>},
      {"lessthan", IsOrdered<false, false>},
      {"lower", IsCase<false>},
      {"lt", IsOrdered<false, false>},
      {"mapping", IsKind<Kind::kDict>},
      {"ne", IsEqual<false>},
      {"none", IsKind<Kind::kNone>},
      {"number", IsNumber},
      {"odd", IsParity<true>},
      {"sameas", IsSame},
      {"sequence", IsSequence},
      {"string", IsKind<Kind::kText>},
      {"test", IsTest},
      {"true", IsBool<true>},
      {"undefined", IsUndefined},
      {"upper", IsCase<true>},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.test;
  }
  return nullptr;
}

}  // namespace ember::llm

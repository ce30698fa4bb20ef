// Implements the arithmetic operators of templates, with Python's rules.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "base/concat.h"
#include "llm/template/evaluator.h"

namespace ember::llm {
namespace {

Status Overflow(std::string_view operation) {
  return ResourceExhaustedError(
      Concat({"expected a result of ", operation,
              " of at most 64 bits, found a larger one"}));
}

// Divides as Python's // does: the quotient is rounded towards minus infinity.
// The divisor must not be 0.
int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

StatusOr<Value> Power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return Value(
        std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  // For other bases than 0, 1 and -1 the loop below ends soon, by overflow.
  // These bases would allow an exponent of any size, so they are computed
  // directly.
  if (base == 0 || base == 1) return Value(exponent == 0 ? int64_t{1} : base);
  if (base == -1) return Value(exponent % 2 == 0 ? int64_t{1} : int64_t{-1});
  int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return Overflow("**");
  }
  return Value(result);
}

StatusOr<Value> ComputeIntegers(std::string_view operation, int64_t a,
                                int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  if (operation == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (operation == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (operation == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else if (operation == "**") {
    return Power(a, b);
  } else {
    if (b == 0) {
      return InvalidArgumentError(
          Concat({"expected a divisor of ", operation, ", found 0"}));
    }
    if (operation == "/") {
      return Value(static_cast<double>(a) / static_cast<double>(b));
    }
    // INT64_MIN / -1 is the only quotient that exceeds 64 bits.
    if (a == INT64_MIN && b == -1) {
      if (operation == "%") return Value(int64_t{0});
      return Overflow(operation);
    }
    const int64_t quotient = FloorDivide(a, b);
    result = operation == "//" ? quotient : a - quotient * b;
  }
  if (overflows) return Overflow(operation);
  return Value(result);
}

StatusOr<Value> ComputeFloats(std::string_view operation, double a, double b) {
  if (operation == "+") return Value(a + b);
  if (operation == "-") return Value(a - b);
  if (operation == "*") return Value(a * b);
  if (operation == "**") return Value(std::pow(a, b));
  if (b == 0) {
    return InvalidArgumentError(
        Concat({"expected a divisor of ", operation, ", found 0"}));
  }
  if (operation == "/") return Value(a / b);
  if (operation == "//") return Value(std::floor(a / b));
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  return Value(remainder);
}

// Returns the text or list, repeated `count` times.
StatusOr<Value> Repeat(const Value& value, int64_t count,
                       Evaluator& evaluator) {
  const auto times = static_cast<uint64_t>(count < 0 ? 0 : count);
  const size_t size =
      value.is_text() ? value.text().size() : value.items().size();
  const uint64_t unit = value.is_text() ? 1 : sizeof(Value);
  uint64_t total = 0;
  if (__builtin_mul_overflow(times, size * unit, &total)) total = UINT64_MAX;
  EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(total));
  if (value.is_text()) {
    std::string text;
    if (size > 0) {
      for (uint64_t i = 0; i < times; ++i) text += value.text();
    }
    return Value(std::move(text));
  }
  Value::Items items;
  if (size > 0) {
    for (uint64_t i = 0; i < times; ++i) {
      items.insert(items.end(), value.items().begin(), value.items().end());
    }
  }
  return value.kind() == Value::Kind::kList ? Value::List(std::move(items))
                                            : Value::Tuple(std::move(items));
}

// Implements Python's formatting, "text % values", for %s, %d, %r and %%.
StatusOr<Value> Format(const std::string& format, const Value& values,
                       Evaluator& evaluator) {
  const Value::Items single = {values};
  const Value::Items& items =
      values.kind() == Value::Kind::kTuple ? values.items() : single;
  std::string text;
  size_t used = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    const char letter = ++i < format.size() ? format[i] : '\0';
    if (letter == '%') {
      text += '%';
      continue;
    }
    if (letter != 's' && letter != 'd' && letter != 'r') {
      return UnimplementedError(
          "expected %s, %d, %r or %% in a format, found another one");
    }
    if (used >= items.size()) {
      return InvalidArgumentError("expected a value for each % of a format");
    }
    const Value& item = items[used++];
    if (letter == 'd' && !item.is_number()) {
      return InvalidArgumentError(
          Concat({"expected a number for %d, found ", item.TypeName()}));
    }
    if (letter == 'd') {
      text += std::to_string(
          static_cast<int64_t>(std::clamp(item.number(), -9e18, 9e18)));
    } else {
      EMBER_ASSIGN_OR_RETURN(
          const std::string part,
          letter == 'r' ? evaluator.ReprOf(item) : evaluator.TextOf(item));
      text += part;
    }
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(text.size() / 16));
  }
  if (used < items.size()) {
    return InvalidArgumentError("expected a % in the format for each value");
  }
  return evaluator.MakeText(std::move(text));
}

}  // namespace

StatusOr<Value> Compute(std::string_view operation, const Value& a,
                        const Value& b, Evaluator& evaluator) {
  if (a.is_integer() && b.is_integer()) {
    return ComputeIntegers(operation, a.integer(), b.integer());
  }
  if (a.is_number() && b.is_number()) {
    return ComputeFloats(operation, a.number(), b.number());
  }
  if (operation == "+" && a.is_text() && b.is_text()) {
    return evaluator.MakeText(a.text() + b.text());
  }
  if (operation == "+" && a.is_sequence() && a.kind() == b.kind()) {
    Value::Items items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(items.size() * sizeof(Value)));
    return a.kind() == Value::Kind::kList ? Value::List(std::move(items))
                                          : Value::Tuple(std::move(items));
  }
  if (operation == "*" && b.is_integer() && (a.is_text() || a.is_sequence())) {
    return Repeat(a, b.integer(), evaluator);
  }
  if (operation == "*" && a.is_integer() && (b.is_text() || b.is_sequence())) {
    return Repeat(b, a.integer(), evaluator);
  }
  if (operation == "%" && a.is_text()) return Format(a.text(), b, evaluator);
  return InvalidArgumentError(
      Concat({"expected operands of ", operation, " that fit, found ",
              a.TypeName(), " and ", b.TypeName()}));
}

}  // namespace ember::llm
